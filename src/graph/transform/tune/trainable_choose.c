/* Fine-tuning: weights are chosen by pattern, and what became of each match is reported. */
#include "base/memory/guard.h"
#include "base/text/near.h"
#include "base/text/printable.h"
#include "graph/transform/tune/trainable_parts.h"

#include <fnmatch.h>
#include <string.h>

/* ---- names ---- */

/* A name of a layer as it is compared: node names have "/", ":" and more where texts have "_". What stands in brackets
 * of a pattern stays. False if it is too long for one. */
static bool fold_name(const char *name, char out[MW__TUNE_NAME])
{
    bool inside = false;
    size_t at = 0;
    for (; name[at] != '\0' && at + 1 < MW__TUNE_NAME; at++) {
        const char c = name[at];
        const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        inside = c == '[' || (inside && c != ']');
        out[at] = word || inside || strchr("*?]\\", c) != NULL ? c : '_';
    }
    out[at] = '\0';
    return name[at] == '\0';
}

/* "name" for "name__2". */
static bool cut_part(char *name)
{
    const size_t length = strlen(name), digits = strspn(name + length - 1, "0123456789");
    const size_t cut = strlen(MW__TUNE_PART) + 1;
    const bool is_part = digits == 1 && length > cut && strncmp(name + length - cut, MW__TUNE_PART, cut - 1) == 0;
    if (is_part)
        name[length - cut] = '\0';
    return is_part;
}

bool mw__tune_matches_layer(const char *pattern, const mw_weight *weight)
{
    char folded[MW__TUNE_NAME], layer[MW__TUNE_NAME];
    const bool comparable = weight->layer[0] != '\0' && fold_name(pattern, folded) && fold_name(weight->layer, layer);
    return comparable && (fnmatch(folded, layer, 0) == 0 || (cut_part(layer) && fnmatch(folded, layer, 0) == 0));
}

/* Whether the pattern is one of weights' names; else it is one of layers'. */
static bool names_weights(const mw__tuning *t, const char *pattern)
{
    for (size_t i = 0; i < t->items.count; i++)
        if (fnmatch(pattern, t->items.items[i].weight.name, 0) == 0)
            return true;
    return false;
}

/* The names next to the pattern, of weights or layers: "conv1_weight", ... */
static const char *list_near(const mw__tuning *t, const char *pattern, char *out, size_t size)
{
    mw__near near = {.wanted = pattern};
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < t->items.count; i++) {
        mw__near_add(&near, t->items.items[i].weight.name);
        mw__near_add(&near, t->items.items[i].weight.layer);
    }
    for (size_t i = 0; i < near.count && used + 100 < size; i++)
        used += mw__printable_printf(out + used, size - used, "%s\"%.80s\"", used > 0 ? ", " : "", near.names[i]);
    return out;
}

/* ---- choosing ---- */

static mw_status fail_fixed(const mw__tuning *t, const mw_weight *weight, const char *obstacle, mw_error *err)
{
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "%s: \"%.96s\" (%.32s of %.48s) cannot be chosen: %s (narrow the pattern, or set skip_fixed)",
                    t->call, weight->name, weight->argument[0] != '\0' ? weight->argument : "no argument",
                    weight->operation[0] != '\0' ? weight->operation : "any operation", obstacle);
}

/* True if more than one name may match. */
static bool has_wildcard(const char *pattern)
{
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c == '*' || *c == '?' || *c == '[')
            return true;
        c += *c == '\\' && c[1] != '\0';
    }
    return false;
}

static void leave_item(mw__tune_item *item, const char *pattern, const char *why)
{
    if (item->fate != MW__TUNE_KEEP)
        return;
    item->pattern = pattern;
    item->left = why;
}

/* whole: the pattern is the name of this weight. */
static mw_status choose_item(const mw__tuning *t, mw__tune_item *item, const char *pattern, bool whole,
                             mw__tune_fate fate, mw_error *err)
{
    const char *obstacle = item->weight.obstacle;
    if (item->weight.reason != NULL && !whole) {
        leave_item(item, pattern, item->weight.reason);
        return MW_OK;
    }
    if (item->fate != MW__TUNE_KEEP && item->fate != fate)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: patterns and full_patterns both match \"%.96s\"", t->call,
                        item->weight.name);
    if (fate == MW__TUNE_ADAPT) {
        const char *unfit = mw__lora_find_site(item->value, t->items.uses, &item->site);
        if (unfit != NULL)
            obstacle = unfit;
        else if (item->site.op != NULL)
            obstacle = mw__tune_value_obstacle(item->value); /* a branch leaves the constant where it is */
        else if (obstacle == NULL && mw__tune_is_nested(item->value) && item->value->payload == NULL)
            obstacle = "it is compressed, in a block";
    }
    if (obstacle != NULL && !t->skip_fixed)
        return fail_fixed(t, &item->weight, obstacle, err);
    if (obstacle != NULL) {
        leave_item(item, pattern, obstacle);
        return MW_OK;
    }
    if (item->fate == MW__TUNE_KEEP)
        item->pattern = pattern;
    item->fate = fate;
    return MW_OK;
}

/* "scale" (y of mul: it scales values), ... */
static const char *list_left(const mw__tuning *t, const char *pattern, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < t->items.count && used + 200 < size; i++) {
        const mw__tune_item *item = &t->items.items[i];
        if (item->fate != MW__TUNE_KEEP || item->pattern != pattern || item->left == NULL)
            continue;
        used +=
            mw__printable_printf(out + used, size - used, "%s\"%.48s\" (%.24s of %.32s: %.90s)", used > 0 ? ", " : "",
                                 item->weight.name, item->weight.argument, item->weight.operation, item->left);
    }
    return out;
}

static mw_status fail_match(const mw__tuning *t, const char *pattern, size_t matches, mw_error *err)
{
    char list[400];
    if (t->items.count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the program has no fp16 or fp32 constant with a name", t->call);
    if (matches == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "%s: pattern \"%.64s\" matches none of %zu weights and no layer; near it are %s", t->call,
                        pattern, t->items.count, list_near(t, pattern, list, sizeof list));
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "%s: pattern \"%.64s\" matches no weight of a layer (a name given whole is taken): %s", t->call,
                    pattern, list_left(t, pattern, list, sizeof list));
}

static mw_status choose_by(const mw__tuning *t, const char *pattern, mw__tune_fate fate, mw_error *err)
{
    size_t matches = 0, taken = 0;
    const bool by_name = names_weights(t, pattern), whole = by_name && !has_wildcard(pattern);
    for (size_t i = 0; i < t->items.count; i++) {
        mw__tune_item *item = &t->items.items[i];
        if (by_name ? fnmatch(pattern, item->weight.name, 0) != 0 : !mw__tune_matches_layer(pattern, &item->weight))
            continue;
        matches++;
        MW_TRY(choose_item(t, item, pattern, whole, fate, err));
        taken += item->fate != MW__TUNE_KEEP;
    }
    return taken > 0 || (matches > 0 && t->skip_fixed) ? MW_OK : fail_match(t, pattern, matches, err);
}

mw_status mw__tune_choose_last(const mw__tuning *t, int last, mw__tune_fate fate, mw_error *err)
{
    if (last < 0 || (uint32_t)last > t->items.layer_count)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "%s: the last %d layers are wanted, and the program has %u with weights", t->call, last,
                        (unsigned)t->items.layer_count);
    for (size_t i = 0; i < t->items.count; i++) {
        mw__tune_item *item = &t->items.items[i];
        const bool adapts =
            fate != MW__TUNE_ADAPT || item->weight.role == MW_WEIGHT_KERNEL || item->weight.is_parameter;
        if (item->weight.depth > 0 && item->weight.depth <= last && item->weight.reason == NULL && adapts)
            MW_TRY(choose_item(t, item, "last", false, fate, err));
    }
    return MW_OK;
}

mw_status mw__tune_choose(const mw__tuning *t, const char *const *patterns, size_t count, mw__tune_fate fate,
                          mw_error *err)
{
    if (patterns == NULL && count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the patterns are NULL", t->call);
    for (size_t p = 0; p < count; p++) {
        if (patterns[p] == NULL || patterns[p][0] == '\0')
            return mw__fail(err, MW_ERROR_ARGUMENT, "%s: pattern %zu is empty", t->call, p);
        MW_TRY(choose_by(t, patterns[p], fate, err));
    }
    return MW_OK;
}

void mw__tune_report(const mw__tuning *t)
{
    for (size_t i = 0; t->report != NULL && i < t->items.count; i++) {
        const mw__tune_item *item = &t->items.items[i];
        if (item->pattern == NULL)
            continue;
        const bool left = item->fate == MW__TUNE_KEEP;
        const mw_tune_choice choice = {.weight = &item->weight,
                                       .pattern = item->pattern,
                                       .outcome = left                           ? MW_TUNE_LEFT
                                                  : item->fate == MW__TUNE_ADAPT ? MW_TUNE_ADAPTED
                                                                                 : MW_TUNE_TRAINED,
                                       .reason = left ? item->left : NULL};
        const mw__callback outer = mw__callback_begin("report of the tuning", MW__LENT_NEVER);
        t->report(t->report_user, &choice);
        mw__callback_end(outer);
    }
}

mw_status mw__tune_index(mw__tuning *t, mw_error *err)
{
    const size_t values = t->source->value_count;
    size_t chosen = 0;
    t->by_value = mw__arena_alloc(&t->arena, values, sizeof(mw__tune_item *), err);
    t->by_op = mw__arena_alloc(&t->arena, values, sizeof(mw__tune_item *), err);
    if (t->by_value == NULL || t->by_op == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < t->items.count; i++) {
        mw__tune_item *item = &t->items.items[i];
        if (item->fate == MW__TUNE_KEEP)
            continue;
        chosen++;
        t->by_value[item->value->id] = item;
        if (item->fate == MW__TUNE_ADAPT && item->site.op != NULL)
            t->by_op[item->site.op->results[0]->id] = item;
    }
    return chosen > 0
               ? MW_OK
               : mw__fail(err, MW_ERROR_ARGUMENT, "%s: nothing is left to be trained: %s", t->call,
                          t->skip_fixed ? "every match is fixed or no weight of a layer (skip_fixed = false says why)"
                                        : "there are no patterns");
}
