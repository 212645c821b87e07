#!/usr/bin/env python3
"""The deep profile of another model, without a change of code: by preset, or by --target."""
import sys

from bundle_checks import arguments, profile_and_check

if __name__ == "__main__":
    parser = arguments(__doc__ or "", "stage2_alt_model")
    parser.add_argument("--model", default="llm/alt", help="a preset of conf/model")
    parser.add_argument("--target", help="a preset, a config.json or a folder, given as +model.target=")
    given = parser.parse_args()
    chosen = f"+model.target={given.target}" if given.target else f"model={given.model}"
    sys.exit(profile_and_check(given, [chosen]))
