SELECT load_extension('x'), wall_ms FROM requests; SELECT 2 -- "
