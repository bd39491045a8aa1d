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

static bool first_states(const net *n, option_set set)
{
    const bool steps = net_has(n, NET_LSTM) || net_has(n, NET_GRU) || net_has(n, NET_RNN);
    return steps && has(set, OPTION_FROM_ONNX) && has(set, OPTION_MODEL);
}

static const struct {
    bool (*shows)(const net *n, option_set set);
    const char *what;
} known[] = {
    {adapted_steps, "steps with a merged adapter keep their batch"},
    {first_states, "states before the first step of what ONNX spells out keep their batch"},
    {keeps_shapes, "loops take no other shapes from a tuning"},
};

const char *case_known(const net *n, option_set set)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].shows(n, set))
            return known[i].what;
    return NULL;
}
