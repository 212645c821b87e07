"""The parts of hf_llm.py. Only the modules named *_torch and those they are called from need torch."""
