/* The forms of a graph that is asked about. */
#include "mil/check/form.h"

#include "base/number/fp16.h"
#include "graph/ir/admitted.h"
#include "graph/ir/names.h"
#include "graph/transform/extents/specialize.h"

#include <string.h>

/* ---- a copy whose values have names ---- */

/* Values that the user left without are called as the text would, so that what becomes of them can be told. */
static mw_status name_values(mw_graph *graph, const mw__function *main, mw_error *err)
{
    mw__names names;
    mw_status status = mw__names_assign(main, &names, err);
    for (size_t i = 0; status == MW_OK && i < graph->value_count; i++) {
        mw_tensor *value = graph->values[i];
        const char *name = mw__names_get(&names, value);
        if (value->name != NULL || name == NULL || mw__map_get(&graph->names, name) != NULL)
            continue;
        value->name = mw__arena_string(&graph->arena, name, strlen(name), err);
        if (value->name == NULL)
            status = MW_ERROR_MEMORY;
        else if (value->op != NULL && value->op->block == main->body)
            status = mw__map_set(&graph->names, value->name, value, err);
    }
    mw__names_deinit(&names);
    return status;
}

enum { WEIGHTS_MAX = 1 << 26 }; /* bytes that are made up: a short text must not ask for much */

/* A weight whose file was not read is given ones, or zeros of integers: what is asked here is no number of it. Beyond
 * what is left of the bytes it holds one element for all, which no rewrite cuts in parts. */
static mw_status fill_weight(mw_graph *graph, mw_tensor *value, size_t *left, mw_error *err)
{
    size_t size = 0;
    const mw__type *type = value->type;
    const int bits = mw_dtype_bits(type->dtype);
    if (type->kind != MW__TENSOR || bits < 8 || !mw__type_bytes(type, &size) || size == 0)
        return MW_OK;
    mw__payload *filled = mw__arena_alloc(&graph->arena, 1, sizeof *filled, err);
    const bool splat = size > *left;
    const size_t element = (size_t)bits / 8, bytes = splat ? element : size;
    char *data = mw__arena_alloc(&graph->arena, bytes, 1, err);
    if (filled == NULL || data == NULL)
        return MW_ERROR_MEMORY;
    const uint16_t half = mw__fp16_from_double(1.0);
    const float single = 1.0F;
    memset(data, 0, bytes);
    for (size_t i = 0; i < bytes && (type->dtype == MW_F16 || type->dtype == MW_F32); i += element)
        memcpy(data + i, type->dtype == MW_F16 ? (const void *)&half : (const void *)&single, element);
    *left -= splat ? 0 : size;
    *filled = *value->payload;
    filled->data = data;
    filled->size = bytes;
    filled->splat = splat;
    filled->shared = NULL;
    value->payload = filled;
    return MW_OK;
}

static mw_status fill_weights(mw_graph *graph, mw_error *err)
{
    size_t left = WEIGHTS_MAX;
    for (size_t i = 0; i < graph->value_count; i++) {
        const mw__payload *payload = graph->values[i]->payload;
        if (payload != NULL && payload->data == NULL && payload->blob_path != NULL)
            MW_TRY(fill_weight(graph, graph->values[i], &left, err));
    }
    return MW_OK;
}

mw_graph *mw__chip_copy_named(const mw_graph *graph, const char *function_name, const mw_allocator *allocator,
                              mw_error *err)
{
    const mw__function *function = mw__function_choose(graph, function_name, err);
    const mw__clone_options whole = {.rule = mw__clone_as_declared, .keep_outputs = true};
    mw_graph *copy = function != NULL ? mw__clone_function(allocator, function, &whole, NULL, err) : NULL;
    if (copy == NULL || (name_values(copy, mw__graph_main(copy), err) == MW_OK && fill_weights(copy, err) == MW_OK))
        return copy;
    mw__graph_free(copy);
    return NULL;
}

/* ---- the form that mw_program_create would write ---- */

void mw__chip_form_deinit(mw__chip_form *f)
{
    mw__legal_form_deinit(&f->legal);
    mw__graph_free(f->specialized);
    mw__flat_form_deinit(&f->flat);
}

static mw_status read_shape(const mw__function *main, const mw_tensor *input, mw__given *given, mw_error *err)
{
    mw_admitted_shapes admitted;
    given->shape = mw_tensor_shape(input);
    if (!mw__is_fed(input))
        return MW_OK;
    MW_TRY(mw__admitted_read(main, input, &admitted, err));
    given->shape = admitted.has_standard ? admitted.standard : given->shape;
    return mw_shape_count(given->shape) >= 0
               ? MW_OK
               : mw__fail(err, MW_ERROR_SHAPE, "input \"%s\" has `?` extents and no default shape", input->name);
}

/* The program for its default shapes. */
static mw_status specialize(mw__chip_form *f, const mw__function *main, mw_error *err)
{
    const mw__block *body = main->body;
    mw__given *given = mw__alloc(f->allocator, body->input_count, sizeof *given, err);
    mw_status status = given != NULL ? MW_OK : MW_ERROR_MEMORY;
    for (size_t i = 0; status == MW_OK && i < body->input_count; i++)
        status = read_shape(main, body->inputs[i], &given[i], err);
    if (status == MW_OK)
        f->specialized = mw__specialize(f->allocator, main, given, true, err);
    mw__free(f->allocator, given);
    return status != MW_OK ? status : f->specialized != NULL ? MW_OK : err->status;
}

mw_status mw__chip_form_make(mw__chip_form *f, const mw_graph *source, const mw__legality *legality,
                             const mw_allocator *allocator, mw_error *err)
{
    *f = (mw__chip_form){.allocator = allocator, .legality = legality};
    const mw__legal_options how = {.device = f->legality->device,
                                   .chip = f->legality->chip,
                                   .arithmetic = mw__arithmetic_of(f->legality->chip->chip),
                                   .unchecked = true,
                                   .allocator = f->allocator};
    const mw__function *main = mw__graph_main(source);
    if (mw__wants_specializing(main)) {
        MW_TRY(specialize(f, main, err));
        source = f->specialized;
    }
    MW_TRY(mw__flat_form_make(source, f->legality->device, NULL, &f->flat, err));
    return mw__legal_form_make(f->flat.graph != NULL ? f->flat.graph : source, &how, &f->legal, err);
}
