/* Reads FlexibleShapeInformation: a tuple of (word, dictionary) pairs. DefaultShapes and RangeDims map inputs to a
 * shape and to a bound for each axis; EnumeratedShapes maps words without a meaning to shapes by input. Source: texts
 * of Apple's compiler (all three), and coremltools' FeatureTypes (a negative upper bound is none). */
#include "graph/ir/admitted.h"

#include "base/text/text.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char mw__flexible_attribute[] = "FlexibleShapeInformation";

/* ---- inputs ---- */

bool mw__is_fed(const mw_tensor *input) { return input->role == MW__INPUT && input->type->kind == MW__TENSOR; }

mw_status mw__fed_input(const mw__function *function, const char *call, const char *name, mw_tensor **out,
                        mw_error *err)
{
    const mw__block *body = function->body;
    const char *first = "";
    *out = NULL;
    for (size_t i = 0; i < body->input_count; i++) {
        mw_tensor *input = body->inputs[i];
        if (!mw__is_fed(input) || input->name == NULL)
            continue;
        first = first[0] == '\0' ? input->name : first;
        if (name != NULL && strcmp(input->name, name) == 0)
            *out = input;
    }
    if (*out != NULL)
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "%s: \"%.96s\" is no input that is fed; the first is \"%.96s\"", call,
                    name != NULL ? name : "", first);
}

/* ---- the attribute ---- */

static const mw__payload *find_attribute(const mw__function *function)
{
    for (size_t i = 0; i < function->attribute_count; i++)
        if (strcmp(function->attributes[i].name, mw__flexible_attribute) == 0)
            return function->attributes[i].value;
    return NULL;
}

static mw_status malformed_admitted(const mw__function *function, const char *input, mw_error *err, const char *why)
{
    return mw__fail(err, MW_ERROR_FORMAT, "function \"%.96s\": %s%s%.96s%s: %s", function->name, mw__flexible_attribute,
                    input != NULL ? " of input \"" : "", input != NULL ? input : "", input != NULL ? "\"" : "", why);
}

static const char *word_of(const mw__payload *payload)
{
    if (payload->type->kind != MW__TENSOR || payload->strings == NULL || mw__payload_count(payload) != 1)
        return NULL;
    return payload->strings[0];
}

/* The value of a key in a dictionary; NULL if it has none. */
static const mw__payload *look_up(const mw__payload *dictionary, const char *key)
{
    for (size_t i = 0; i + 1 < dictionary->member_count; i += 2) {
        const char *word = word_of(dictionary->members[i]);
        if (word != NULL && strcmp(word, key) == 0)
            return dictionary->members[i + 1];
    }
    return NULL;
}

/* The dictionary of that word, in *out, or NULL there. */
static mw_status find_part(const mw__function *function, const char *word, const mw__payload **out, mw_error *err)
{
    const mw__payload *attribute = find_attribute(function);
    *out = NULL;
    if (attribute == NULL)
        return MW_OK;
    if (attribute->type->kind != MW__TUPLE)
        return malformed_admitted(function, NULL, err, "is no tuple");
    for (size_t i = 0; i < attribute->member_count; i++) {
        const mw__payload *pair = attribute->members[i];
        const bool good = pair->type->kind == MW__TUPLE && pair->member_count == 2 &&
                          word_of(pair->members[0]) != NULL && pair->members[1]->type->kind == MW__DICT;
        if (!good)
            return malformed_admitted(function, NULL, err, "has a member that is no pair of a word and a dictionary");
        if (strcmp(word_of(pair->members[0]), word) == 0)
            *out = pair->members[1];
    }
    return MW_OK;
}

/* ---- shapes ---- */

static bool shape_fits(mw_shape shape, mw_shape declared)
{
    bool fits = shape.rank == declared.rank && mw_shape_count(shape) >= 0;
    for (int i = 0; fits && i < shape.rank; i++)
        fits = shape.dim[i] >= 0 && mw__dim_fits(shape.dim[i], declared.dim[i]);
    return fits;
}

/* A vector of extents that fits the input. */
static mw_status read_shape(const mw__function *function, const mw_tensor *input, const mw__payload *payload,
                            mw_shape *out, mw_error *err)
{
    const mw_shape declared = input->type->shape;
    const bool numbers = payload->type->kind == MW__TENSOR && payload->data != NULL && payload->type->dtype == MW_I32 &&
                         mw__payload_count(payload) == (size_t)declared.rank;
    *out = (mw_shape){.rank = declared.rank};
    for (int i = 0; numbers && i < declared.rank; i++)
        out->dim[i] = mw__payload_int(payload, (size_t)i);
    if (numbers && shape_fits(*out, declared) && mw__shape_check(*out, NULL) == MW_OK)
        return MW_OK;
    char text[160];
    snprintf(text, sizeof text, "a shape is none for ");
    mw__shape_print(declared, text + strlen(text), sizeof text - strlen(text));
    return malformed_admitted(function, input->name, err, text);
}

static mw_status read_standard(const mw__function *function, const mw_tensor *input, mw_admitted_shapes *out,
                               mw_error *err)
{
    const mw__payload *part;
    MW_TRY(find_part(function, "DefaultShapes", &part, err));
    const mw__payload *shape = part != NULL ? look_up(part, input->name) : NULL;
    out->has_standard = shape != NULL;
    return shape != NULL ? read_shape(function, input, shape, &out->standard, err) : MW_OK;
}

/* [low, high] of one axis; a negative high is no bound. */
static bool read_bounds(const mw__payload *payload, int64_t declared, int64_t *low, int64_t *high)
{
    if (payload->type->kind != MW__TENSOR || payload->data == NULL || payload->type->dtype != MW_I32 ||
        mw__payload_count(payload) != 2)
        return false;
    *low = mw__payload_int(payload, 0);
    *high = mw__payload_int(payload, 1);
    if (*high < 0)
        *high = MW_DIM_UNKNOWN;
    const bool ordered = *low >= 0 && (*high == MW_DIM_UNKNOWN || *high >= *low);
    return ordered &&
           (declared == MW_DIM_UNKNOWN || (declared >= *low && (*high == MW_DIM_UNKNOWN || declared <= *high)));
}

static mw_status read_ranges(const mw__function *function, const mw_tensor *input, mw_admitted_shapes *out,
                             mw_error *err)
{
    const mw__payload *part;
    MW_TRY(find_part(function, "RangeDims", &part, err));
    const mw__payload *ranges = part != NULL ? look_up(part, input->name) : NULL;
    const int rank = out->declared.rank;
    if (ranges == NULL)
        return MW_OK;
    if (ranges->type->kind != MW__LIST || ranges->member_count != (size_t)rank)
        return malformed_admitted(function, input->name, err, "RangeDims needs two bounds for each axis");
    out->kind = MW_ADMITS_RANGES;
    out->low.rank = out->high.rank = rank;
    for (int i = 0; i < rank; i++) {
        const int64_t declared = out->declared.dim[i];
        if (!read_bounds(ranges->members[i], declared, &out->low.dim[i], &out->high.dim[i]))
            return malformed_admitted(
                function, input->name, err,
                "the bounds of an axis are no two numbers from 0 on, the second not below the first, with "
                "the declared extent between them");
        if (declared != MW_DIM_UNKNOWN)
            out->low.dim[i] = out->high.dim[i] = declared;
    }
    return MW_OK;
}

/* Entry `index` of EnumeratedShapes for an input; NULL in *out if that entry does not name it. */
static mw_status find_listed(const mw__function *function, const mw__payload *part, size_t index,
                             const mw_tensor *input, const mw__payload **out, mw_error *err)
{
    const mw__payload *entry = part->members[2 * index + 1];
    if (entry->type->kind != MW__DICT)
        return malformed_admitted(function, NULL, err, "an entry of EnumeratedShapes is no dictionary");
    *out = look_up(entry, input->name);
    return MW_OK;
}

static mw_status read_list(const mw__function *function, const mw_tensor *input, mw_admitted_shapes *out, mw_error *err)
{
    const mw__payload *part, *first;
    mw_shape shape;
    MW_TRY(find_part(function, "EnumeratedShapes", &part, err));
    if (part == NULL)
        return MW_OK;
    if (part->member_count < 2)
        return malformed_admitted(function, input->name, err, "EnumeratedShapes is empty");
    MW_TRY(find_listed(function, part, 0, input, &first, err));
    if (first == NULL)
        return MW_OK; /* an input that does not change */
    out->kind = MW_ADMITS_LISTED;
    out->count = part->member_count / 2;
    for (size_t i = 0; i < out->count; i++)
        MW_TRY(mw__admitted_listed(function, input, i, &shape, err));
    return MW_OK;
}

mw_status mw__admitted_listed(const mw__function *function, const mw_tensor *input, size_t index, mw_shape *out,
                              mw_error *err)
{
    const mw__payload *part, *listed;
    MW_TRY(find_part(function, "EnumeratedShapes", &part, err));
    if (part == NULL || index >= part->member_count / 2)
        return mw__fail(err, MW_ERROR_ARGUMENT, "input \"%.96s\" has no listed shape %zu", input->name, index);
    MW_TRY(find_listed(function, part, index, input, &listed, err));
    if (listed == NULL)
        return malformed_admitted(function, input->name, err, "an entry of EnumeratedShapes leaves the input out");
    return read_shape(function, input, listed, out, err);
}

static bool in_ranges(const mw_admitted_shapes *admitted, mw_shape shape)
{
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] < admitted->low.dim[i] ||
            (admitted->high.dim[i] != MW_DIM_UNKNOWN && shape.dim[i] > admitted->high.dim[i]))
            return false;
    return true;
}

mw_status mw__admitted_read(const mw__function *function, const mw_tensor *input, mw_admitted_shapes *out,
                            mw_error *err)
{
    *out = (mw_admitted_shapes){.declared = input->type->shape};
    const bool open = mw_shape_count(out->declared) < 0;
    out->kind = open ? MW_ADMITS_ANY : MW_ADMITS_ONE;
    if (!open) {
        out->standard = out->declared;
        out->has_standard = true;
        return MW_OK;
    }
    if (input->name == NULL)
        return MW_OK;
    MW_TRY(read_standard(function, input, out, err));
    MW_TRY(read_ranges(function, input, out, err));
    if (out->kind == MW_ADMITS_ANY)
        MW_TRY(read_list(function, input, out, err));
    if (out->kind == MW_ADMITS_RANGES && out->has_standard && !in_ranges(out, out->standard))
        return malformed_admitted(function, input->name, err, "the default shape is outside RangeDims");
    return MW_OK;
}

/* ---- what is asked for ---- */

/* "axis 0: 1 to 512, axis 2: from 1 on". */
static void print_ranges(mw__text *text, const mw_admitted_shapes *admitted)
{
    const char *before = "";
    for (int i = 0; i < admitted->low.rank; i++) {
        const int64_t low = admitted->low.dim[i], high = admitted->high.dim[i];
        if (low == high)
            mw__text_printf(text, "%saxis %d: %" PRId64, before, i, low);
        else if (high == MW_DIM_UNKNOWN)
            mw__text_printf(text, "%saxis %d: from %" PRId64 " on", before, i, low);
        else
            mw__text_printf(text, "%saxis %d: %" PRId64 " to %" PRId64, before, i, low, high);
        before = ", ";
    }
}

/* The first of the list; a message has no room for hundreds. */
static mw_status print_list(mw__text *text, const mw__function *function, const mw_tensor *input, size_t count,
                            mw_error *err)
{
    enum { SHOWN = 8 };
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        mw_shape shape;
        char buffer[200];
        MW_TRY(mw__admitted_listed(function, input, i, &shape, err));
        mw__text_printf(text, "%s%s", i > 0 ? ", " : "", mw__shape_print(shape, buffer, sizeof buffer));
    }
    if (count > SHOWN)
        mw__text_printf(text, " and %zu more", count - SHOWN);
    return MW_OK;
}

static mw_status refuse_shape(const mw__function *function, const mw_tensor *input, const mw_admitted_shapes *admitted,
                              mw_shape shape, mw_error *err)
{
    char asked[200], declared[200];
    mw__text text;
    mw__text_init(&text, input->graph->allocator);
    mw_status status = MW_OK;
    if (admitted->kind == MW_ADMITS_RANGES)
        print_ranges(&text, admitted);
    else if (admitted->kind == MW_ADMITS_LISTED)
        status = print_list(&text, function, input, admitted->count, err);
    else
        mw__text_puts(&text, mw__shape_print(admitted->declared, declared, sizeof declared));
    if (status == MW_OK)
        status = mw__text_check(&text, err);
    if (status == MW_OK)
        status = mw__fail(err, MW_ERROR_SHAPE, "input \"%.96s\" cannot be %s; it admits %s", mw_tensor_name(input),
                          mw__shape_print(shape, asked, sizeof asked), text.data);
    mw__text_deinit(&text);
    return status;
}

mw_status mw__admitted_check(const mw__function *function, const mw_tensor *input, mw_shape shape, mw_error *err)
{
    mw_admitted_shapes admitted;
    MW_TRY(mw__shape_check(shape, err));
    MW_TRY(mw__admitted_read(function, input, &admitted, err));
    bool good = shape_fits(shape, admitted.declared);
    if (good && admitted.kind == MW_ADMITS_RANGES)
        good = in_ranges(&admitted, shape);
    if (good && admitted.kind == MW_ADMITS_LISTED) {
        good = false;
        for (size_t i = 0; i < admitted.count && !good; i++) {
            mw_shape listed;
            MW_TRY(mw__admitted_listed(function, input, i, &listed, err));
            good = mw_shape_equal(listed, shape);
        }
    }
    return good ? MW_OK : refuse_shape(function, input, &admitted, shape, err);
}

/* True if every input that the entry names has its shape. */
static mw_status entry_fits(const mw__function *function, const mw__payload *part, size_t index, const mw_shape *shapes,
                            bool *out, mw_error *err)
{
    const mw__block *body = function->body;
    *out = true;
    for (size_t i = 0; i < body->input_count && *out; i++) {
        const mw_tensor *input = body->inputs[i];
        const mw__payload *listed;
        mw_shape shape;
        if (!mw__is_fed(input) || input->name == NULL)
            continue;
        MW_TRY(find_listed(function, part, index, input, &listed, err));
        if (listed == NULL)
            continue;
        MW_TRY(read_shape(function, input, listed, &shape, err));
        *out = mw_shape_equal(shape, shapes[i]);
    }
    return MW_OK;
}

mw_status mw__admitted_check_together(const mw__function *function, const mw_shape *shapes, mw_error *err)
{
    const mw__payload *part;
    MW_TRY(find_part(function, "EnumeratedShapes", &part, err));
    bool good = part == NULL;
    for (size_t i = 0; !good && i < part->member_count / 2; i++)
        MW_TRY(entry_fits(function, part, i, shapes, &good, err));
    if (good)
        return MW_OK;
    return mw__fail(err, MW_ERROR_SHAPE,
                    "the shapes of the inputs are each listed, but not together: function \"%.96s\" lists which belong "
                    "together (mw_graph_listed_shape)",
                    function->name);
}

/* ---- public ---- */

static const mw__function *main_of(const mw_graph *graph, const char *call, mw_error *err)
{
    const mw__function *function = NULL;
    if (graph == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "%s: the graph is NULL", call);
    else if (mw_graph_check(graph, err) == MW_OK) {
        function = mw__graph_main(graph);
        if (function == NULL)
            mw__fail(err, MW_ERROR_ARGUMENT, "%s: there is no function \"main\"; take one by mw_graph_function", call);
    }
    return function;
}

mw_status mw_graph_admitted_shapes(const mw_graph *graph, const char *input, mw_admitted_shapes *out, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    if (out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "admitted_shapes: no place for them (out is NULL)");
    *out = (mw_admitted_shapes){.kind = MW_ADMITS_ONE};
    mw_tensor *value;
    const mw__function *function = main_of(graph, "admitted_shapes", err);
    if (function == NULL)
        return err->status;
    MW_TRY(mw__fed_input(function, "admitted_shapes", input, &value, err));
    mw_admitted_shapes read;
    MW_TRY(mw__admitted_read(function, value, &read, err));
    *out = read;
    return MW_OK;
}

mw_status mw_graph_listed_shape(const mw_graph *graph, const char *input, size_t index, mw_shape *out, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    if (out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "listed_shape: no place for it (out is NULL)");
    *out = mw_shape_scalar();
    mw_tensor *value;
    mw_shape shape;
    const mw__function *function = main_of(graph, "listed_shape", err);
    if (function == NULL)
        return err->status;
    MW_TRY(mw__fed_input(function, "listed_shape", input, &value, err));
    MW_TRY(mw__admitted_listed(function, value, index, &shape, err));
    *out = shape;
    return MW_OK;
}
