/* Faults that the library has still: their cases are left out by name. An entry goes when its fault is mended. */
#include "case.h"

static bool has(option_set set, option o) { return option_in(set, o); }

static bool first_states(const net *n, option_set set)
{
    const bool steps = net_has(n, NET_LSTM) || net_has(n, NET_GRU) || net_has(n, NET_RNN);
    return steps && has(set, OPTION_FROM_ONNX) && has(set, OPTION_MODEL);
}

static const struct {
    bool (*shows)(const net *n, option_set set);
    const char *what;
} known[] = {
    {first_states, "states before the first step of what ONNX spells out keep their batch"},
};

const char *case_known(const net *n, option_set set)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].shows(n, set))
            return known[i].what;
    return NULL;
}
