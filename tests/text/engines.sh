#!/bin/sh
# Tokenizers beside other engines, over 10,000 drawn strings: Hugging Face's (every form of make_tokenizers.py, and what
# it learns from a text) and tiktoken (its vocabularies). For tools/nightly.sh.
# usage: tests/text/engines.sh BUILD MODULES
# MODULES is a node_modules folder with @anush008/tokenizers and tiktoken.
set -eu
build=$1 modules=$2
here=$(cd "$(dirname "$0")" && pwd)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
python3 "$here/make_strings.py" 10000 7 >"$made/strings"
python3 "$here/make_strings.py" 10000 7 unmarked >"$made/t5_table"

strings_of() { # NAME of a form
    if [ -f "$made/$1" ]; then cat "$made/$1"; else cat "$made/strings"; fi
}

python3 "$here/make_tokenizers.py" "$made/forms"
for form in "$made"/forms/*.json; do
    strings_of "$(basename "$form" .json)" | node "$here/engine_tokens.mjs" "$modules" "$form" >"${form%.json}.jsonl"
done
MW_TEXT_VECTORS=$made/forms "$build/tests/test_text_engine_vectors"

# Folders that are made of GGUF: the engine reads their tokenizer.json, with the numbers that the library has.
mkdir "$made/ggufs" "$made/folders"
PYTHONPATH=$here /usr/bin/python3 "$here/make_files.py" "$made/ggufs" "$here/models" "$here/vectors" networks
for file in "$made"/ggufs/*.vocabulary.gguf; do
    name=$(basename "$file" .vocabulary.gguf)
    "$build/mw" convert "$file" "$made/folder" >/dev/null
    mv "$made/folder/tokenizer.json" "$made/folders/$name.json"
    rm -r "$made/folder"
    strings_of "$name" | node "$here/engine_tokens.mjs" "$modules" "$made/folders/$name.json" ids \
        >"$made/folders/$name.jsonl"
done
MW_TEXT_VECTORS=$made/folders "$build/tests/test_text_engine_vectors"

node "$here/engine_train.mjs" "$modules" "$here/vectors/learned.txt" "$made/merges" >/dev/null
cmp "$made/merges" "$here/vectors/learned.merges"

for name in gpt2 cl100k_base o200k_base; do
    node "$here/tiktoken_tokens.mjs" "$modules" $name "$made/$name" <"$made/strings"
    "$build/mw" tokens "$made/$name/tokenizer.json" --numbers --file "$made/$name/text" | cmp - "$made/$name/ids"
    echo "$name: $(wc -w <"$made/$name/ids") numbers are those of tiktoken"
done
