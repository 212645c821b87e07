#!/usr/bin/env python3
"""The deep profile of another model, without changes to code: by preset, or by --target."""
import sys

from bundle_checks import arguments, profile_and_check

if __name__ == "__main__":
    parser = arguments(__doc__ or "", "stage2_alt_model")
    parser.add_argument("--model", default="llm/alt", help="a preset of conf/model")
    parser.add_argument("--target", help="a preset, a config.json or a folder, passed as +model.target=")
    options = parser.parse_args()
    chosen = f"+model.target={options.target}" if options.target else f"model={options.model}"
    sys.exit(profile_and_check(options, [chosen]))
