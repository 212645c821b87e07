SELECT bucket(start_ns, 10), interval_union(start_ns, end_ns), overlap(1, 2, 3, 4), short_name(name) FROM kernels GROUP BY 1
