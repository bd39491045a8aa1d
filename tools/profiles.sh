#!/bin/sh
# Trains every example on the model of the ANE under every profile of a chip and prints the table of docs/chip.md; an
# error if a profile falls more than a point, or a tenth of a loss, behind ieee.
# usage: tools/profiles.sh EXAMPLES_FOLDER MNIST_FOLDER FASHION_FOLDER
set -eu
examples=$1
mnist=$2
fashion=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# The last number of the last line that begins with WHAT.
number() { # number WHAT FILE
    grep "^$1" "$2" | tail -n 1 | grep -o '[0-9][0-9.e+-]*' | tail -n 1
}

# behind WHAT IEEE VALUE: the value is too much worse; an accuracy should be high, a loss low
behind() {
    case $1 in
    *accuracy* | epoch*) echo "$2 $3" | awk '{ exit !($2 < $1 - 1) }' ;;
    *) echo "$2 $3" | awk '{ exit !($2 > $1 * 1.1) }' ;;
    esac
}

# row NAME WHAT [arguments]: one example under every profile
row() {
    name=$1
    what=$2
    shift 2
    line="| \`$name $*\` | $what |"
    ieee=
    for profile in ieee h13 h14 h15 h16 h17 h18g; do
        value=-
        if MW_ENGINE_PROFILE=$profile "$examples/$name" "$@" --device ane >"$work/out" 2>"$work/err"; then
            value=$(number "$what" "$work/out")
            ieee=${ieee:-$value}
            if behind "$what" "$ieee" "$value"; then
                echo "$name: $what is $value under $profile and $ieee under ieee" >&2
                status=1
            fi
        else
            echo "$name under $profile: $(tail -n 1 "$work/err")" >&2
            status=1
        fi
        line="$line $value |"
    done
    echo "$line" | sed "s|$mnist|MNIST|; s|$fashion|FASHION|; s|$work|DIR|"
}

echo "| example | what | ieee | h13 | h14 | h15 | h16 | h17 | h18g |"
echo "|---|---|---|---|---|---|---|---|---|"
row mnist_mlp "test accuracy" --data "$mnist"
row mnist_cnn "test accuracy" --data "$mnist" --epochs 1 --model "$work/cnn"
row fashion_cnn "test accuracy" --data "$fashion" --epochs 1
row finetune "after: test accuracy" --data "$fashion" --model "$work/cnn" --epochs 1
row finetune "after: test accuracy" --data "$fashion" --model "$work/cnn" --epochs 1 --lora
row autoencoder "test loss" --data "$mnist" --epochs 1
row lstm_sequence "test loss" --epochs 1
row char_transformer "test loss" --epochs 1
row custom_loop "epoch 1" --data "$mnist" --epochs 1
exit "$status"
