#!/usr/bin/env python3
"""The default deep profile, on a machine with a GPU: runs it and checks the complete bundle."""
import sys

from bundle_checks import arguments, profile_and_check

if __name__ == "__main__":
    sys.exit(profile_and_check(arguments(__doc__ or "", "stage2_profile").parse_args(), ["model=llm/llama_1b"]))
