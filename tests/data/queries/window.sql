SELECT rank() OVER (PARTITION BY class ORDER BY duration_ns) FROM kernels
