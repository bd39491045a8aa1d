/* Constants that a framework calls parameters though no argument of a layer holds them: layer scales, tokens, tables of
 * positions, relative biases, slopes. Their operations alone do not tell them from masks, grids and the statistics of a
 * data set: what is beside them, what they hold and how they are named does. */
#include "graph/ir/rule.h"
#include "graph/transform/tune/trainable.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { LOOKED_AT = 96 };              /* operations behind a value */
enum { NUMBERS_LOOKED_AT = 1 << 22 }; /* of a table */

/* ---- names ---- */

/* The words of a name are parted by anything but letters. */
static bool has_word(const char *name, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = name; (at = strstr(at, word)) != NULL; at++)
        if ((at == name || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[length]))
            return true;
    return false;
}

/* "mul_12", "var_38_to_fp16", "x_5": what a converter counts. */
static bool is_counted(const char *name)
{
    const char *at = name + strspn(name, "abcdefghijklmnopqrstuvwxyz_");
    const size_t digits = strspn(at, "0123456789");
    at += digits;
    return digits > 0 && at - digits > name && at[-(ptrdiff_t)digits - 1] == '_' &&
           (*at == '\0' || strcmp(at, "_to_fp16") == 0 || strcmp(at, "_promoted") == 0 ||
            strcmp(at, "_promoted_to_fp16") == 0);
}

bool mw__guess_is_data(const char *name)
{
    static const char *const words[] = {"mask",   "mean",    "std",  "variance", "offset", "anchor", "anchors",
                                        "stride", "strides", "grid", "freqs",    "freq",   "sin",    "cos"};
    bool data = false;
    for (size_t i = 0; name != NULL && i < sizeof words / sizeof *words; i++)
        data = data || has_word(name, words[i]);
    return data;
}

/* "conv_offset.bias", "mask_head_weight_to_fp16": the last word is that of a weight. TensorFlow names what reads it. */
static bool is_of_weight(const char *name)
{
    static const char *const words[] = {"weight", "bias", "gamma", "beta", "embeddings"};
    const char *tail = strstr(name, "_to_fp16");
    const size_t length = tail != NULL && tail[8] == '\0' ? (size_t)(tail - name) : strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t word = strlen(words[i]);
        if (length >= word && memcmp(name + length - word, words[i], word) == 0 &&
            (length == word || !isalpha((unsigned char)name[length - word - 1])))
            return true;
    }
    return has_word(name, "BiasAdd") || has_word(name, "ReadVariableOp");
}

bool mw__guess_is_given(const char *name)
{
    if (name == NULL || strchr("_/", name[0]) != NULL || isdigit((unsigned char)name[0]) ||
        strncmp(name, "onnx::", 6) == 0)
        return false;
    return !has_word(name, "Constant") && !has_word(name, "output") && !is_counted(name);
}

/* ---- what it holds ---- */

bool mw__guess_is_single(const mw_tensor *value)
{
    static const char *const words[] = {"alpha", "beta",  "gamma", "gain",       "weight",
                                        "bias",  "logit", "tau",   "temperature"};
    bool learned = false;
    for (size_t i = 0; value->name != NULL && i < sizeof words / sizeof *words; i++)
        learned = learned || has_word(value->name, words[i]);
    return learned;
}

static bool is_moderate(double number) { return fabs(number) < 1000.0; }

bool mw__guess_is_learned(const mw_tensor *value)
{
    const mw__payload *payload = value->payload;
    if (value->role == MW__PARAMETER || payload == NULL || payload->data == NULL)
        return value->role == MW__PARAMETER || payload == NULL; /* compressed: somebody thought it worth that */
    const size_t count = payload->splat ? 1 : mw__payload_count(payload);
    const double first = count > 0 ? mw__payload_float(payload, 0) : 0.0;
    bool whole = mw__payload_count(payload) > 1, masks = false, same = true;
    for (size_t i = 0; i < count && !masks; i++) {
        const double number = mw__payload_float(payload, i);
        whole = whole && number * 2.0 == floor(number * 2.0);
        same = same && number == first;
        masks = !is_moderate(number);
    }
    /* Many parameters start at zeros; at ones only what has a name may. A list and a splat of one number are alike. */
    return !masks && (!whole || (same && (first == 0.0 || mw__guess_is_given(value->name))));
}

/* The first elements alone: a mask shows what it is in its first rows, and tables of words are large. */
static bool has_large(const mw__payload *payload)
{
    if (payload == NULL || payload->data == NULL)
        return false;
    const size_t count = payload->splat ? 1 : mw__payload_count(payload);
    for (size_t i = 0; i < count && i < NUMBERS_LOOKED_AT; i++)
        if (!is_moderate(mw__payload_float(payload, i)))
            return true;
    return false;
}

bool mw__guess_is_buffer(const mw_tensor *value)
{
    if (value->role == MW__PARAMETER)
        return false;
    const bool named = mw__guess_is_data(value->name) && !is_of_weight(value->name);
    return named || has_large(value->payload);
}

bool mw__guess_is_switch(const mw_tensor *value)
{
    const mw__payload *payload = value->payload;
    if (payload == NULL || payload->data == NULL || payload->splat)
        return false;
    bool seen[2] = {false, false};
    for (size_t i = 0; i < mw__payload_count(payload); i++) {
        const double number = mw__payload_float(payload, i);
        if (number != 0.0 && number != 1.0)
            return false;
        seen[number != 0.0] = true;
    }
    return seen[0] && seen[1];
}

bool mw__guess_is_uniform(const mw_tensor *value)
{
    const mw__payload *payload = value->payload;
    if (payload == NULL || payload->data == NULL)
        return false;
    const size_t count = payload->splat ? 1 : mw__payload_count(payload);
    bool same = true;
    for (size_t i = 1; same && i < count; i++)
        same = mw__payload_float(payload, i) == mw__payload_float(payload, 0);
    return same;
}

/* ---- what is beside it ---- */

static bool has_kept_operand(const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++)
            if (mw__tune_is_fixed(op->slots[i].operands[k].value) &&
                mw_shape_count(mw_tensor_shape(op->slots[i].operands[k].value)) > 1)
                return true;
    return false;
}

static bool is_layer(const mw__op *op)
{
    static const char *const kinds[] = {"conv", "conv_transpose", "linear",     "lstm",         "gru",
                                        "rnn",  "batch_norm",     "layer_norm", "instance_norm"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (mw__op_is(op, kinds[i]))
            return true;
    return (mw__op_is(op, "matmul") || mw__op_is(op, "einsum") || mw__op_is(op, "gather")) && has_kept_operand(op);
}

static bool search_layer(const mw_tensor *value, int *left)
{
    const mw__op *op = value->op;
    if (value->payload != NULL || op == NULL || --*left < 0)
        return false;
    if (is_layer(op))
        return true;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++) {
            const mw_tensor *from = op->slots[i].operands[k].value;
            if (from != NULL && search_layer(from, left))
                return true;
        }
    return false;
}

bool mw__guess_is_of_layer(const mw_tensor *value)
{
    int left = LOOKED_AT;
    return value != NULL && search_layer(value, &left);
}

int mw__guess_channel_axis(const mw_tensor *value)
{
    const int rank = mw_tensor_shape(value).rank;
    for (int left = 12; left > 0 && value != NULL && value->payload == NULL && value->op != NULL; left--) {
        const mw__op *op = value->op;
        if (mw__op_is(op, "conv") || mw__op_is(op, "conv_transpose") || mw__op_is(op, "batch_norm") ||
            mw__op_is(op, "instance_norm"))
            return rank > 1 ? 1 : -1;
        if (mw__op_is(op, "linear") || mw__op_is(op, "matmul") || mw__op_is(op, "layer_norm") ||
            mw__op_is(op, "gather"))
            return rank - 1;
        if (!(mw__op_has(op, MW__TRAIT_ELEMENTWISE) || mw__op_is(op, "select") || mw__op_is(op, "prelu")))
            return -1;
        const mw_tensor *x = mw__arg(op, mw__op_is(op, "select") ? "a" : "x");
        const bool other = x == NULL || mw__tune_is_fixed(x) || mw_tensor_shape(x).rank != rank;
        value = other && !mw__op_is(op, "select") && op->slot_count > 1 ? mw__arg(op, "y") : x;
    }
    return -1;
}
