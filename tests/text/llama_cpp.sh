#!/bin/sh
# GGUF files of small models against llama.cpp: the tokens of texts, and 20 tokens that follow, the likeliest each. The
# first of these must be the same; later ones may differ, as llama.cpp keeps keys and values in fp16, and quantizes what
# quantized weights are multiplied with. Then it says from which byte on. Embeddings of an encoder are compared as well.
# usage: tests/text/llama_cpp.sh BUILD NODE_MODULES   (node_modules with node-llama-cpp: npm i node-llama-cpp)
set -eu
mw=$1/mw
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 "$here/make_folders.py" "$work" "$here/models" "$here/vectors"
failed=0

compare() { # family type text
    file=$work/$1.$2.gguf
    theirs=$(node "$here/llama_cpp.mjs" "$nodes" "$file" "$3" 20 2>/dev/null)
    tokens=$(echo "$theirs" | sed 's/.*"tokens":\[\([0-9,]*\)\].*/\1/; s/,/ /g')
    written=$(echo "$theirs" | sed 's/.*"written":\[\([0-9,]*\)\].*/\1/; s/,/ /g')
    ours=$("$mw" tokens -n "$file" "$3")
    if [ "$tokens" != "$ours" ]; then
        echo "$1 $2: \"$3\" has the tokens $ours here, and $tokens there"
        failed=1
    fi
    "$mw" tokens "$file" --decode "$written" >"$work/theirs"
    "$mw" generate "$file" --prompt "$3" --temperature 0 --tokens 20 --context 64 >"$work/ours"
    if cmp -s "$work/theirs" "$work/ours"; then
        echo "$1 $2: 20 tokens are the same"
    else
        same=$(cmp "$work/theirs" "$work/ours" | sed 's/.*byte \([0-9]*\),.*/\1/')
        echo "$1 $2: the texts differ from byte $same on"
        case $2 in q*) ;; *) [ "$same" -gt 4 ] || failed=1 ;; esac
    fi
}

nodes=$2
for family in gpt2 llama qwen2 qwen3; do
    for type in fp32 fp16 bf16 q8_0 q4_0; do
        "$mw" convert "$work/$family" "$work/$family.$type.gguf" --weights $type
        compare $family $type "Hello there, it's 123"
        compare $family $type "  two  spaces and more"
    done
done
# GELU is a table of fp16 there.
"$mw" convert "$here/models/minilm" "$work/minilm.gguf"
node "$here/llama_cpp_embed.mjs" "$nodes" "$mw" "$work/minilm.gguf" "a bad cab" "abcdef" "hide fade" || failed=1
exit $failed
