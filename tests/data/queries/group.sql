SELECT class, count(*), sum(duration_ns) FROM kernels WHERE start_ns BETWEEN 1 AND 100 GROUP BY class ORDER BY 2 DESC
