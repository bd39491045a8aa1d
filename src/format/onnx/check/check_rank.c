/* Ranks: by the rules of the rows, and of operators whose results follow from attributes and constants. */
#include "format/onnx/check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a rule has found so far. */
typedef struct ranks {
    int alike;   /* of what has the letter; -1 = not known yet */
    int largest; /* of all inputs; -1 as soon as one is not known */
} ranks;

static int rank_of(const mw__onnx_facts *f, size_t input)
{
    return input < f->node->n_input && f->in[input] != NULL ? f->in[input]->rank : -1;
}

static bool refuse_rank(mw__onnx_facts *f, size_t input, const char *rule)
{
    snprintf(f->why, sizeof f->why, "input %zu has rank %d, the schema wants %s", input, f->in[input]->rank, rule);
    return false;
}

static bool check_input(mw__onnx_facts *f, ranks *r, size_t input, const char *rule)
{
    char wanted[40];
    if (f->in[input] == NULL)
        return true;
    const int rank = f->in[input]->rank, least = atoi(rule + 1);
    r->largest = rank < 0 || r->largest < 0 ? -1 : rank > r->largest ? rank : r->largest;
    if (rank < 0 || rule[0] == '-' || rule[0] == '^')
        return true;
    if (rule[0] != 'x')
        return rank == atoi(rule) || refuse_rank(f, input, rule);
    snprintf(wanted, sizeof wanted, r->alike >= 0 ? "%d" : "%d at least", r->alike >= 0 ? r->alike : least);
    if (r->alike >= 0 ? rank != r->alike : rank < least)
        return refuse_rank(f, input, wanted);
    r->alike = rank;
    return true;
}

static void put_result(mw__onnx_facts *f, const ranks *r, size_t result, const char *rule)
{
    f->out[result].rank = rule[0] == 'x' ? r->alike : rule[0] == '^' ? r->largest : rule[0] == '-' ? -1 : atoi(rule);
}

/* By the row: inputs, then results. */
static bool follow_row(mw__onnx_facts *f)
{
    ranks r = {.alike = -1};
    char word[MW__ONNX_WORD], rule[MW__ONNX_WORD] = "-";
    const char *list = f->schema->ranks;
    bool more = mw__onnx_schema_word(&list, word);
    for (size_t i = 0; i < f->node->n_input; i++) {
        if (more && word[0] != '>' && word[0] != '*') {
            memcpy(rule, word, sizeof rule);
            more = mw__onnx_schema_word(&list, word);
        } else if (!more || word[0] == '>') {
            memcpy(rule, "-", 2);
        }
        if (!check_input(f, &r, i, rule))
            return false;
    }
    while (more && word[0] != '>')
        more = mw__onnx_schema_word(&list, word);
    for (size_t i = 0; i < f->node->n_output && more && (more = mw__onnx_schema_word(&list, word)); i++)
        put_result(f, &r, i, word);
    return true;
}

/* ---- operators with rules of their own ---- */

static int64_t number_of(const mw__onnx_facts *f, const char *attribute, int64_t otherwise)
{
    const Mw__Onnx__Attribute *found = mw__onnx_schema_attribute(f->node, attribute);
    return found != NULL ? found->i : otherwise;
}

/* How many axes an attribute or an input names; 0 for none, -1 if that is not known. */
static int64_t axes_of(const mw__onnx_facts *f)
{
    const Mw__Onnx__Attribute *found = mw__onnx_schema_attribute(f->node, "axes");
    if (found != NULL)
        return (int64_t)found->n_ints;
    return f->node->n_input > 1 && f->in[1] != NULL ? f->in[1]->count : 0;
}

static bool rank_transpose(mw__onnx_facts *f)
{
    const Mw__Onnx__Attribute *perm = mw__onnx_schema_attribute(f->node, "perm");
    f->out[0].rank = rank_of(f, 0);
    if (perm == NULL || f->out[0].rank < 0 || perm->n_ints == (size_t)f->out[0].rank)
        return true;
    snprintf(f->why, sizeof f->why, "perm has %zu axes, the input %d", perm->n_ints, f->out[0].rank);
    return false;
}

static bool rank_reshape(mw__onnx_facts *f)
{
    f->out[0].rank = f->in[1] != NULL ? (int)f->in[1]->count : -1;
    return true;
}

static bool rank_expand(mw__onnx_facts *f)
{
    const int own = rank_of(f, 0), wanted = f->in[1] != NULL ? (int)f->in[1]->count : -1;
    f->out[0].rank = own < 0 || wanted < 0 ? -1 : own > wanted ? own : wanted;
    return true;
}

static bool rank_gather(mw__onnx_facts *f)
{
    const int x = rank_of(f, 0), indices = rank_of(f, 1);
    f->out[0].rank = x < 0 || indices < 0 ? -1 : x + indices - 1;
    if (x != 0)
        return true;
    snprintf(f->why, sizeof f->why, "input 0 is a scalar");
    return false;
}

static bool rank_reduce(mw__onnx_facts *f)
{
    const int x = rank_of(f, 0);
    const bool is_arg = strncmp(f->node->op_type, "Arg", 3) == 0;
    const int64_t axes = is_arg ? 1 : axes_of(f);
    if (number_of(f, "keepdims", 1) != 0)
        f->out[0].rank = x;
    else
        f->out[0].rank = x < 0 || axes < 0 ? -1 : axes == 0 ? 0 : x - (int)axes;
    if (x < 0 || axes <= x || (is_arg && x == 0))
        return true;
    snprintf(f->why, sizeof f->why, "it reduces %lld axes of %d", (long long)axes, x);
    return false;
}

static bool rank_unsqueeze(mw__onnx_facts *f)
{
    const int x = rank_of(f, 0);
    const int64_t axes = axes_of(f);
    f->out[0].rank = x < 0 || axes < 0 ? -1 : x + (int)axes;
    return true;
}

static bool rank_squeeze(mw__onnx_facts *f)
{
    const int x = rank_of(f, 0);
    const int64_t axes = axes_of(f);
    f->out[0].rank = x < 0 || axes <= 0 ? -1 : x - (int)axes;
    return true;
}

static bool rank_matmul(mw__onnx_facts *f)
{
    const int a = rank_of(f, 0), b = rank_of(f, 1);
    if (a == 0 || b == 0) {
        snprintf(f->why, sizeof f->why, "input %d is a scalar", a == 0 ? 0 : 1);
        return false;
    }
    const int wide = a > b ? a : b;
    f->out[0].rank = a < 0 || b < 0 ? -1 : a == 1 && b == 1 ? 0 : a == 1 || b == 1 ? wide - 1 : wide;
    return true;
}

static bool rank_split(mw__onnx_facts *f)
{
    for (size_t i = 0; i < f->node->n_output; i++)
        f->out[i].rank = rank_of(f, 0);
    return true;
}

typedef struct special {
    const char *name;
    bool (*rank)(mw__onnx_facts *f);
} special;

static const special specials[] = {
    {"Transpose", rank_transpose},    {"Reshape", rank_reshape},
    {"Expand", rank_expand},          {"Gather", rank_gather},
    {"ReduceSum", rank_reduce},       {"ReduceMean", rank_reduce},
    {"ReduceMax", rank_reduce},       {"ReduceMin", rank_reduce},
    {"ReduceProd", rank_reduce},      {"ReduceL1", rank_reduce},
    {"ReduceL2", rank_reduce},        {"ReduceLogSum", rank_reduce},
    {"ReduceLogSumExp", rank_reduce}, {"ReduceSumSquare", rank_reduce},
    {"ArgMax", rank_reduce},          {"ArgMin", rank_reduce},
    {"Unsqueeze", rank_unsqueeze},    {"Squeeze", rank_squeeze},
    {"MatMul", rank_matmul},          {"Split", rank_split},
};

bool mw__onnx_check_ranks(mw__onnx_facts *f)
{
    if (!follow_row(f))
        return false;
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].name, f->node->op_type) == 0)
            return specials[i].rank(f);
    return true;
}
