/* Constants as const statements of the current block. Those that the library makes itself (axes, scalars, defaults) are
 * shared when small and equal; those that the user makes never are, since they may be named or differentiated. */
#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <string.h>

/* Longest constant that is shared, in bytes. */
#define SHARED_MAX 64
/* Bytes of the name stem that take part in sharing: constants of another meaning keep a name of their own. */
#define STEM_MAX 24

typedef struct share_key {
    char bytes[2 + 8 * MW_RANK_MAX + SHARED_MAX + STEM_MAX];
    size_t size;
} share_key;

static void add_bytes(share_key *key, const void *data, size_t size)
{
    if (size > 0)
        memcpy(key->bytes + key->size, data, size);
    key->size += size;
}

static void make_key(share_key *key, mw_dtype dtype, mw_shape shape, const void *data, size_t size, const char *stem)
{
    key->size = 0;
    const char head[2] = {(char)dtype, (char)shape.rank};
    add_bytes(key, head, sizeof head);
    add_bytes(key, shape.dim, (size_t)shape.rank * sizeof shape.dim[0]);
    add_bytes(key, data, size);
    add_bytes(key, stem, strnlen(stem, STEM_MAX));
}

/* A constant of another block may not be visible here. */
static mw_tensor *find_shared(const mw_graph *graph, const share_key *key)
{
    mw_tensor *found = mw__map_get_n(&graph->constants, key->bytes, key->size);
    return found != NULL && found->op->block == graph->block ? found : NULL;
}

static mw_tensor *emit_shared(mw_graph *graph, const share_key *key, const mw__payload *payload, const char *hint)
{
    mw_tensor *value = payload != NULL ? mw__payload_emit(graph, payload, hint, &graph->error) : NULL;
    if (value == NULL || mw__map_set_n(&graph->constants, key->bytes, key->size, value, &graph->error) != MW_OK)
        return NULL;
    return value;
}

mw_tensor *mw__constant(mw_graph *graph, mw_dtype dtype, mw_shape shape, const void *data, const char *hint)
{
    if (graph == NULL || graph->error.status != MW_OK)
        return NULL;
    const mw__type type = {.kind = MW__TENSOR, .dtype = dtype, .shape = shape};
    size_t size;
    const bool small = mw__shape_check(shape, NULL) == MW_OK && mw__type_bytes(&type, &size) && size <= SHARED_MAX;
    if (!small || data == NULL) {
        const mw__payload *payload = mw__payload_create(graph, dtype, shape, data, &graph->error);
        return payload != NULL ? mw__payload_emit(graph, payload, hint, &graph->error) : NULL;
    }
    share_key key;
    make_key(&key, dtype, shape, data, size, hint);
    mw_tensor *found = find_shared(graph, &key);
    if (found != NULL)
        return found;
    return emit_shared(graph, &key, mw__payload_create(graph, dtype, shape, data, &graph->error), hint);
}

mw_tensor *mw__constant_string(mw_graph *graph, const char *text, const char *hint)
{
    if (graph == NULL || graph->error.status != MW_OK)
        return NULL;
    const size_t length = strlen(text);
    const mw__payload *payload;
    share_key key;
    if (length > SHARED_MAX) {
        payload = mw__payload_create_string(graph, text, &graph->error);
        return payload != NULL ? mw__payload_emit(graph, payload, hint, &graph->error) : NULL;
    }
    make_key(&key, MW_STRING, mw_shape_scalar(), text, length, hint);
    mw_tensor *found = find_shared(graph, &key);
    if (found != NULL)
        return found;
    return emit_shared(graph, &key, mw__payload_create_string(graph, text, &graph->error), hint);
}

/* An element of `dtype` with `value`; false leaves an error on the graph. */
static bool store_scalar(mw_graph *graph, unsigned char out[8], mw_dtype dtype, double value, const char *what)
{
    if (dtype != MW_F16 && dtype != MW_F32 && dtype != MW_I32 && dtype != MW_BOOL) {
        mw__graph_fail(graph, MW_ERROR_DTYPE, "%s: no scalar of type %s: use fp16, fp32, int32 or bool", what,
                       mw_dtype_name(dtype));
        return false;
    }
    if (mw__element_store(out, dtype, value))
        return true;
    mw__graph_fail(graph, MW_ERROR_NUMERIC, "%s: %g does not fit %s", what, value, mw_dtype_name(dtype));
    return false;
}

mw_tensor *mw__scalar(mw_graph *graph, mw_dtype dtype, double value, const char *what)
{
    unsigned char element[8] = {0};
    if (graph == NULL || graph->error.status != MW_OK || !store_scalar(graph, element, dtype, value, what))
        return NULL;
    return mw__constant(graph, dtype, mw_shape_scalar(), element, what);
}

/* ---- public ---- */

mw_tensor *mw_constant(mw_graph *graph, mw_dtype dtype, mw_shape shape, const void *data)
{
    MW__FLOAT_SCOPE;
    if (graph == NULL || graph->error.status != MW_OK)
        return NULL;
    if (mw_dtype_bits(dtype) == 0)
        return mw__graph_fail(graph, MW_ERROR_DTYPE, "constant: %s has no elements in memory", mw_dtype_name(dtype));
    if (data == NULL && mw_shape_count(shape) != 0)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "constant: data is NULL");
    const mw__payload *payload = mw__payload_create(graph, dtype, shape, data, &graph->error);
    return payload != NULL ? mw__payload_emit(graph, payload, "const", &graph->error) : NULL;
}

mw_tensor *mw_scalar(mw_graph *graph, mw_dtype dtype, double value)
{
    MW__FLOAT_SCOPE;
    unsigned char element[8] = {0};
    if (graph == NULL || graph->error.status != MW_OK || !store_scalar(graph, element, dtype, value, "scalar"))
        return NULL;
    return mw_constant(graph, dtype, mw_shape_scalar(), element);
}

mw_tensor *mw_text(mw_graph *graph, const char *text)
{
    if (graph == NULL || graph->error.status != MW_OK)
        return NULL;
    if (text == NULL)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "text: the string is NULL");
    return mw__constant_string(graph, text, "text");
}
