/* Faults that the library has still: their cases are left out by name. An entry goes when its fault is mended. */
#include "case.h"

static bool has(option_set set, option o) { return option_in(set, o); }

static bool adapted_steps(const net *n, option_set set)
{
    const bool steps = net_has(n, NET_LSTM) || net_has(n, NET_GRU) || net_has(n, NET_RNN);
    return steps && has(set, OPTION_LORA) && has(set, OPTION_MODEL);
}

static bool keeps_shapes(const net *n, option_set set)
{
    const bool loops = net_has(n, NET_LOOP) || net_has(n, NET_WHILE) || net_has(n, NET_LIST);
    return loops && has(set, OPTION_SHAPES);
}

static bool norm_from_onnx(const net *n, option_set set)
{
    return has(set, OPTION_FROM_ONNX) && has(set, OPTION_TUNE_ALL) && net_has(n, NET_LAYER_NORM);
}

static bool branch_from_onnx(const net *n, option_set set)
{
    const bool blocks = net_has(n, NET_LOOP) || net_has(n, NET_WHILE) || net_has(n, NET_COND) || net_has(n, NET_LIST);
    return has(set, OPTION_FROM_ONNX) && blocks;
}

static bool steps_from_file(const net *n, option_set set)
{
    const bool file = has(set, OPTION_FROM_MIL) || has(set, OPTION_FROM_PACKAGE);
    return file && (net_has(n, NET_LSTM) || net_has(n, NET_GRU));
}

static const struct {
    bool (*shows)(const net *n, option_set set);
    const char *what;
} known[] = {
    {steps_from_file, "weights of steps, split into gates, are not found as such in a file"},
    {norm_from_onnx, "the weights of a layer norm that was written as ONNX are not found as such"},
    {branch_from_onnx, "weights in a branch or loop lose their names in ONNX"},
    {adapted_steps, "steps with a merged adapter keep their batch"},
    {keeps_shapes, "loops take no other shapes from a tuning"},
};

const char *case_known(const net *n, option_set set)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].shows(n, set))
            return known[i].what;
    return NULL;
}
