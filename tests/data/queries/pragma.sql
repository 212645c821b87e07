PRAGMA table_info(kernels)
