raise ImportError("No module named 'torch'")
