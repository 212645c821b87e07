"""The parts of hf_llm.py. Only the modules named *_torch, and those that call them, need torch."""
