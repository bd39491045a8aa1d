/* Makes a wrong case smaller as long as it stays wrong: fewer options, fewer layers, smaller sizes. */
#include "case.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local char wanted[48]; /* what is wrong with the case that is being shrunk */

/* What a reason says without its numbers and names, so that a case does not shrink to another fault. */
static void kind_of(const char *why, char out[48])
{
    int used = 0;
    bool quoted = false;
    for (const char *c = why; *c != '\0' && used < 47; c++) {
        quoted = *c == '"' ? !quoted : quoted;
        if (!quoted && ((*c >= 'a' && *c <= 'z') || *c == ' '))
            out[used++] = *c;
    }
    out[used] = '\0';
    char *value = strstr(out, " is "); /* of a weight, which goes by other names in a smaller net */
    if (value != NULL && strstr(why, "plain") != NULL)
        memmove(out, "value", strlen("value") + 1);
}

static bool is_wrong(const net *n, option_set set)
{
    char why[CASE_WHY] = "", kind[48];
    plain_run *plain = calloc(1, sizeof *plain);
    const verdict v = n->count > 0 ? case_judge(n, set, plain, why) : CASE_RIGHT;
    kind_of(why, kind);
    free(plain);
    return v == CASE_WRONG && strcmp(kind, wanted) == 0;
}

static bool drop_options(const net *n, option_set *set)
{
    bool changed = false;
    for (int o = 0; o < OPTIONS; o++) {
        const option_set fewer = *set & ~(1ULL << o);
        if (fewer == *set || fewer == 0 || !is_wrong(n, fewer))
            continue;
        *set = fewer;
        changed = true;
    }
    return changed;
}

/* Layers from first to end away; what is left inside of a block that went comes out of it. */
static net without(const net *n, int first, int end)
{
    net less = *n;
    const int inner = net_end(n, first);
    for (int i = end; i < inner; i++)
        less.layers[i].depth--;
    memmove(&less.layers[first], &less.layers[end], (size_t)(n->count - end) * sizeof less.layers[0]);
    less.count -= end - first;
    memset(&less.layers[less.count], 0, (size_t)(NET_LAYERS - less.count) * sizeof less.layers[0]);
    return less;
}

static bool take(net *n, const net *less, option_set set)
{
    if (!is_wrong(less, set))
        return false;
    *n = *less;
    return true;
}

static bool drop_layers(net *n, option_set set)
{
    bool changed = false;
    for (int i = n->count - 1; i >= 0; i--) {
        net less = without(n, i, net_end(n, i));
        bool dropped = take(n, &less, set);
        if (!dropped && i < n->count) {
            less = without(n, i, i + 1);
            dropped = take(n, &less, set);
        }
        changed = changed || dropped;
        if (i > n->count)
            i = n->count;
    }
    return changed;
}

static bool lower(net *n, int *field, option_set set)
{
    const int was = *field;
    for (int to = 1; to < was; to++) {
        *field = to;
        if (is_wrong(n, set))
            return true;
    }
    *field = was;
    return false;
}

static bool lower_sizes(net *n, option_set set)
{
    bool changed = lower(n, &n->steps, set);
    changed = lower(n, &n->features, set) || changed;
    changed = lower(n, &n->examples, set) || changed;
    for (int i = 0; i < n->count; i++)
        if (net_row_of(n->layers[i].kind)->has_size)
            changed = lower(n, &n->layers[i].size, set) || changed;
    return changed;
}

static bool plainer(net *n, option_set set)
{
    net other = *n;
    other.loss = NET_MSE;
    bool changed = n->loss != NET_MSE && take(n, &other, set);
    other = *n;
    other.optimizer = NET_SGD;
    changed = (n->optimizer != NET_SGD && take(n, &other, set)) || changed;
    return changed;
}

void case_shrink(net *n, option_set *set, const char *why)
{
    kind_of(why, wanted);
    bool changed = true;
    for (int round = 0; changed && round < 4; round++) {
        changed = drop_options(n, set);
        changed = drop_layers(n, *set) || changed;
        changed = plainer(n, *set) || changed;
        changed = lower_sizes(n, *set) || changed;
    }
}
