/* The rows of mil/rewrite.h, each with its reason; tests/mil/test_rewrite.c holds what they make of a program. */
#include "mil/rewrite.h"

#include "base/environment.h"
#include "base/error.h"
#include "graph/idioms/conv.h"

#include <string.h>

/* ---- conv ---- */

/* A literal in an argument has no value of its own in the copy. */
static bool is_copied(const mw_tensor *value) { return value == NULL || value->payload == NULL || value->op != NULL; }

static bool has_computed_weight(const mw__op *op)
{
    mw__conv conv;
    const mw_tensor *weight = mw__arg(op, "weight");
    return weight != NULL && !mw__is_constant(weight) && is_copied(mw__arg(op, "x")) &&
           is_copied(mw__arg(op, "bias")) && mw__conv_read(op, &conv);
}

static mw_tensor *write_conv(mw__clone *clone, const mw__op *op)
{
    mw__conv conv;
    if (!mw__conv_read(op, &conv))
        return NULL;
    const mw__form form = clone->to->form;
    const mw_tensor *bias = mw__arg(op, "bias");
    clone->to->form = MW__FORM_CHIP;
    mw_tensor *y =
        mw__conv_y(&conv, mw__clone_get(clone, mw__arg(op, "x")), mw__clone_get(clone, mw__arg(op, "weight")));
    clone->to->form = form;
    return bias != NULL ? mw__conv_add_bias(y, mw__clone_get(clone, bias)) : y;
}

/* ---- rows ---- */

static const mw__rewrite rows[] = {
    {.name = "conv_chip",
     .operation = "conv",
     .devices = MW_DEVICE_ANE,
     .guard = has_computed_weight,
     .emit = write_conv,
     .reason = "the ANE refuses a computed weight for a batch above 1 and ignores it for a batch of 1 "
               "(ANEForge, dynamic convolution)"},
};

/* True if `name` is an item of a list with commas. */
static bool is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *item = list; item != NULL && *item != '\0'; item += strcspn(item, ","), item += *item == ',')
        if (strncmp(item, name, length) == 0 && (item[length] == ',' || item[length] == '\0'))
            return true;
    return false;
}

bool mw__rewrite_is_kept(const char *name) { return is_listed(mw__environment("MW_MIL_KEEP"), name); }

static bool is_name(const char *item, size_t length)
{
    static const char *const splits[] = {"blocks", "digits"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, item, length) == 0)
            return true;
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
        if (strlen(splits[i]) == length && memcmp(splits[i], item, length) == 0)
            return true;
    return false;
}

mw_status mw__rewrite_check(mw_error *err)
{
    for (const char *item = mw__environment("MW_MIL_KEEP"); item != NULL && *item != '\0';) {
        const size_t length = strcspn(item, ",");
        if (!is_name(item, length))
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "MW_MIL_KEEP has \"%.*s\", which is none of conv_chip, blocks, digits",
                            (int)(length < 100 ? length : 100), item);
        item += length;
        item += *item == ',';
    }
    return MW_OK;
}

const mw__rewrite *mw__rewrite_find(const mw__device_traits *device, const mw__op *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if ((rows[i].devices & device->mask) != 0 && strcmp(rows[i].operation, op->kind) == 0 && op->row != NULL &&
            rows[i].guard(op) && !mw__rewrite_is_kept(rows[i].name))
            return &rows[i];
    return NULL;
}
