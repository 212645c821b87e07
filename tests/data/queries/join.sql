SELECT k.name, s.kind, percentile(k.duration_ns, 99) FROM kernels k JOIN steps s ON s.step = k.step GROUP BY k.name, s.kind
