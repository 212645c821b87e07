SELECT DISTINCT stage, layer FROM kernels WHERE step IN (0, 1, NULL) OR name LIKE '%gemm%' ORDER BY stage, layer DESC
