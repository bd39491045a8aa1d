/* The table of options, and sets of them as text. */
#include "options.h"

#include <stdio.h>
#include <string.h>

#define SET(o) (1ULL << OPTION_##o)

enum { NOTHING = 0 };

static const option_set tunings = SET(LORA) | SET(TUNE_ALL) | SET(TUNE_FIXED);
static const char order[] = "sums have another order";

/* clang-format off */
static const option_row rows[OPTIONS] = {
    [OPTION_ACCUMULATE] = {"accumulate", OPTION_OF_VALUES, 0, NULL, SET(DISPATCH), "a dispatch takes several updates, or an update several batches, not both", {NULL}},
    [OPTION_LORA] = {"lora", OPTION_OF_VALUES, 0, NULL, SET(TUNE_ALL) | SET(TUNE_FIXED), "one tuning at a time", {NULL}},
    [OPTION_TUNE_ALL] = {"tune_all", OPTION_OF_VALUES, 0, NULL, SET(LORA) | SET(TUNE_FIXED), "one tuning at a time", {NULL}},
    [OPTION_TUNE_FIXED] = {"tune_fixed", OPTION_OF_VALUES, 0, NULL, SET(LORA) | SET(TUNE_ALL), "one tuning at a time", {NULL}},
    [OPTION_FROZEN] = {"frozen", OPTION_OF_VALUES, 0, NULL, SET(LORA) | SET(TUNE_ALL) | SET(TUNE_FIXED), "a tuning freezes by itself", {NULL}},
    [OPTION_AVERAGE] = {"average", OPTION_OF_VALUES, 0, NULL, 0, NULL, {NULL}},
    [OPTION_CLIP] = {"clip", OPTION_OF_VALUES, 0, NULL, 0, NULL, {NULL}},
    [OPTION_ANE] = {"ane", OPTION_OF_VALUES, 0, NULL, 0, NULL, {"is refused (loss scale 256)"}},
    [OPTION_M4] = {"m4", OPTION_OF_VALUES, 0, NULL, SET(M6), "one chip", {"is refused (loss scale 2048)", "max_pool: the window is"}},
    [OPTION_M6] = {"m6", OPTION_OF_VALUES, 0, NULL, SET(M4), "one chip", {"is refused (loss scale 2048)", "max_pool: the window is"}},
    [OPTION_RECOMPUTE] = {"recompute", OPTION_OF_FORM, 0, NULL, 0, NULL, {NULL}},
    [OPTION_MEMORY] = {"memory", OPTION_OF_FORM, 0, NULL, SET(SEGMENTS), "memory_limit: not with segments", {NULL}},
    [OPTION_SEGMENTS] = {"segments", OPTION_OF_FORM, 0, NULL, SET(MEMORY), "memory_limit: not with segments", {NULL}},
    [OPTION_DISPATCH] = {"dispatch", OPTION_OF_FORM, 0, NULL, SET(ACCUMULATE), "a dispatch takes several updates, or an update several batches, not both", {NULL}},
    [OPTION_RESUME] = {"resume", OPTION_OF_FORM, 0, NULL, SET(SHARE) | SET(FIT), "one trainer steps at a time", {NULL}},
    [OPTION_SHARE] = {"share", OPTION_OF_FORM, 0, NULL, SET(RESUME), "the first trainer is destroyed", {NULL}},
    [OPTION_EVALUATE] = {"evaluate", OPTION_OF_FORM, 0, NULL, SET(FIT), "between single steps", {NULL}},
    [OPTION_PREDICT] = {"predict", OPTION_OF_FORM, 0, NULL, SET(FIT), "between single steps", {NULL}},
    [OPTION_FIT] = {"fit", OPTION_OF_FORM, 0, NULL, SET(RESUME) | SET(EVALUATE) | SET(PREDICT), "steps of its own", {NULL}},
    [OPTION_WATCH] = {"watch", OPTION_OF_FORM, 0, NULL, 0, NULL, {NULL}},
    [OPTION_CACHE] = {"cache", OPTION_OF_FORM, 0, NULL, 0, NULL, {NULL}},
    [OPTION_WEIGHTS] = {"weights", OPTION_OF_FORM, 0, NULL, SET(AVERAGE), "the averages are written", {NULL}},
    [OPTION_STATE_OF] = {"state_of", OPTION_OF_FORM, 0, NULL, SET(AVERAGE), "the parameters themselves are shared", {NULL}},
    [OPTION_REBATCH] = {"rebatch", OPTION_OF_FORM, 0, NULL, SET(FLEXIBLE) | SET(SHAPES), "one batch", {NULL}},
    [OPTION_FLEXIBLE] = {"flexible", OPTION_OF_FORM, 0, NULL, SET(REBATCH) | SET(SHAPES), "one batch", {"make_list has another type", "the number of operations depends on it"}},
    [OPTION_SHAPES] = {"shapes", OPTION_OF_FORM, 0, NULL, SET(REBATCH) | SET(FLEXIBLE), "one batch", {NULL}},
    [OPTION_FROM_MIL] = {"from_mil", OPTION_OF_FORM, 1e-5, order, SET(FROM_PACKAGE) | SET(FROM_ONNX), "one file", {NULL}},
    [OPTION_FROM_PACKAGE] = {"from_package", OPTION_OF_FORM, 1e-5, order, SET(FROM_MIL) | SET(FROM_ONNX), "one file", {NULL}},
    [OPTION_FROM_ONNX] = {"from_onnx", OPTION_OF_FORM, 1e-4, order, SET(FROM_MIL) | SET(FROM_PACKAGE), "one file", {"its trip count is not known when compiled", "has a type that ONNX lacks"}},
    [OPTION_TO_MIL] = {"to_mil", OPTION_OF_FORM, 0, NULL, 0, NULL, {NULL}},
    [OPTION_TO_PACKAGE] = {"to_package", OPTION_OF_FORM, 0, NULL, 0, NULL, {NULL}},
    [OPTION_TO_ONNX] = {"to_onnx", OPTION_OF_FORM, 0, NULL, 0, NULL, {"noise is not written; see mw_graph_evaluation"}},
    [OPTION_TUNED] = {"tuned", OPTION_OF_FORM, 0, NULL, SET(SHAPES), "the source has another batch", {NULL}},
    [OPTION_MODEL] = {"model", OPTION_OF_FORM, 0, NULL, 0, NULL, {NULL}},
    [OPTION_PASSES] = {"passes", OPTION_OF_FORM, 0, NULL, 0, NULL, {NULL}},
    [OPTION_OFF] = {"off", OPTION_OF_FORM, 0, NULL, 0, NULL, {NULL}},
    [OPTION_NATIVE] = {"native", OPTION_OF_NET, 1e-5, order, 0, NULL, {NULL}},
    [OPTION_GRADIENT] = {"gradient", OPTION_OF_NET, 2e-2, "differences in fp32", 0, NULL, {NULL}},
    [OPTION_SECOND] = {"second", OPTION_OF_NET, 1e-3, "two sums of products in fp32", 0, NULL, {NULL}},
};
/* clang-format on */

const option_row *option_row_of(option o) { return &rows[o]; }

static bool loops_by_values(const net *n) { return net_has(n, NET_WHILE) || net_has(n, NET_COND); }

static const char *unfit_files(option o, option_set set, const net *n)
{
    if ((set & tunings) == 0)
        return "what is read has constants, which only a tuning trains";
    if (net_has(n, NET_DROPOUT) || net_has(n, NET_NOISE))
        return "a file has no noise of training";
    if (net_has(n, NET_STOP) || net_has(n, NET_CUSTOM))
        return "marks and rules are lost in a file";
    if (net_has(n, NET_BATCH_NORM))
        return "a file has no statistics of batches";
    if (!option_in(set, OPTION_LORA))
        return NULL;
    const bool steps = net_has(n, NET_LSTM) || net_has(n, NET_GRU) || net_has(n, NET_RNN);
    const bool renamed = o == OPTION_FROM_ONNX || steps || net_has(n, NET_ATTENTION);
    return renamed ? "adapters start by the names of their weights" : NULL;
}

static const char *unfit_batch(const net *n)
{
    if (loops_by_values(n))
        return "its examples decide together";
    if (net_has(n, NET_BATCH_NORM))
        return "statistics are those of a batch";
    if (net_has(n, NET_DROPOUT) || net_has(n, NET_NOISE))
        return "noise is that of a batch";
    return NULL;
}

/* Of a gradient that is nearly 0 these take the sign, so that a difference in the last bit becomes one in the first. */
static bool takes_signs(const net *n) { return n->optimizer != NET_SGD && n->optimizer != NET_MOMENTUM; }

static bool has_protobuf(void)
{
    static int has = -1;
    mw_error err = {0};
    if (has < 0)
        mw_graph_destroy(mw_graph_open_onnx("nowhere.onnx", NULL, &err));
    has = has < 0 ? strstr(err.message, "without protobuf-c") == NULL : has;
    return has != 0;
}

const char *option_lacks(option o)
{
    const bool needs =
        o == OPTION_FROM_PACKAGE || o == OPTION_FROM_ONNX || o == OPTION_TO_PACKAGE || o == OPTION_TO_ONNX;
    return needs && !has_protobuf() ? "the library was built without protobuf-c" : NULL;
}

const char *option_unfit(option o, option_set set, const net *n)
{
    if (option_lacks(o) != NULL)
        return option_lacks(o);
    if (rows[o].kind != OPTION_OF_NET && takes_signs(n) && option_allowance(set | 1ULL << o, n).all > 0.0)
        return "the sign of what is nearly 0 counts";
    switch (o) {
    case OPTION_M4:
    case OPTION_M6:
        return option_in(set, OPTION_ANE) ? NULL : "it is a chip of the ANE";
    case OPTION_RECOMPUTE:
        return net_has(n, NET_RECOMPUTE) ? NULL : "there is no segment";
    case OPTION_TUNE_FIXED:
        return net_has(n, NET_FIXED) ? NULL : "there is no fixed layer";
    case OPTION_FROZEN:
        return net_has(n, NET_BATCH_NORM) || net_has(n, NET_DENSE) ? NULL : "there is no layer to freeze";
    case OPTION_SHAPES:
        if (net_has(n, NET_BATCH_NORM) || net_has(n, NET_DROPOUT) || net_has(n, NET_NOISE))
            return "training is that of a batch";
        return (set & tunings) == 0 ? "it is an option of a tuning" : NULL;
    case OPTION_TUNED:
        if (net_has(n, NET_NOISE))
            return "noise of a file has no generator";
        return (set & tunings) != 0 ? NULL : "it is an option of a tuning";
    case OPTION_FROM_MIL:
    case OPTION_FROM_PACKAGE:
    case OPTION_FROM_ONNX:
        return unfit_files(o, set, n);
    case OPTION_REBATCH:
        return unfit_batch(n);
    case OPTION_FLEXIBLE:
        return net_has(n, NET_STOP) || net_has(n, NET_CUSTOM) ? "marks and rules are lost in what is read"
                                                              : unfit_batch(n);
    case OPTION_GRADIENT:
    case OPTION_SECOND:
        return net_has(n, NET_STOP) || net_has(n, NET_CUSTOM) ? "its gradient is not that of its values" : NULL;
    case OPTION_TO_MIL:
    case OPTION_TO_PACKAGE:
        return option_in(set, OPTION_ANE) && net_has(n, NET_NOISE) ? "noise of a file has no generator" : NULL;
    case OPTION_TO_ONNX:
        return net_has(n, NET_NOISE) ? "noise of a file has no generator" : NULL;
    case OPTION_STATE_OF:
        return net_has(n, NET_NOISE) ? "noise of a program is its own" : NULL;
    case OPTION_MODEL:
        if (net_has(n, NET_NOISE))
            return "noise of a file has no generator";
        return loops_by_values(n) ? "its examples decide together" : NULL;
    default:
        return NULL;
    }
}

/* Values that are read both in a segment and outside of it have a gradient whose parts are added in another order. */
allowance option_allowance(option_set set, const net *n)
{
    double most = 0.0;
    for (int o = 0; o < OPTIONS; o++)
        if (option_in(set, (option)o) && rows[o].kind != OPTION_OF_NET && rows[o].tolerance > most)
            most = rows[o].tolerance;
    const bool loops = net_has(n, NET_LOOP) || net_has(n, NET_WHILE) || net_has(n, NET_LIST);
    const bool twice = net_has(n, NET_SHARED) || net_has(n, NET_OUTER) || loops;
    const bool again = option_in(set, OPTION_RECOMPUTE) || option_in(set, OPTION_MEMORY);
    const bool tuned = option_in(set, OPTION_TUNE_ALL) || option_in(set, OPTION_TUNE_FIXED);
    if (tuned && option_in(set, OPTION_CLIP) && most < 1e-4)
        most = 1e-4; /* the norm is a sum over parameters, which stand in another order */
    const bool ane = option_in(set, OPTION_ANE);
    if (twice && again && most < 1e-4)
        most = 1e-4;
    if (most > 0.0 && ane)
        most = 2e-2;
    /* on the ANE a weight that is trained is an operand of products, one of a file is a convolution's */
    const bool table = (option_in(set, OPTION_M4) || option_in(set, OPTION_M6)) && net_has(n, NET_GELU);
    const bool conv = ane && (net_has(n, NET_CONV) || net_has(n, NET_CONV2));
    const bool merged = option_in(set, OPTION_LORA);
    return (allowance){.all = most,
                       .file = conv || (merged && ane) ? 8e-3
                               : merged                ? 1e-5
                                                       : 0.0,
                       .other_form = table ? 3e-2
                                     : ane ? 8e-3
                                           : 2e-5}; /* gelu of 33 knots, and spelled by erf */
}

void option_print(option_set set, char out[NET_TEXT])
{
    size_t used = 0;
    out[0] = '\0';
    for (int o = 0; o < OPTIONS; o++)
        if (option_in(set, (option)o))
            used += (size_t)snprintf(out + used, NET_TEXT - used, " +%s", rows[o].name);
}

/* Grammar: (" +" name)* */
bool option_parse(option_set *out, const char *text)
{
    *out = 0;
    while (text[0] == ' ' && text[1] == '+') {
        const size_t size = strcspn(text += 2, " ");
        int found = OPTIONS;
        for (int o = 0; o < OPTIONS; o++)
            if (strlen(rows[o].name) == size && strncmp(rows[o].name, text, size) == 0)
                found = o;
        if (found == OPTIONS)
            return false;
        *out |= 1ULL << found;
        text += size;
    }
    return text[0] == '\0';
}
