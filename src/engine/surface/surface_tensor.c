/* e5rt: descriptions of tensors, of their element types, and of operands, which are tensors here. */
#include "base/memory/checked.h"
#include "engine/core/kernel.h"
#include "engine/surface/surface.h"

#include <string.h>

typedef struct dtype_object {
    mw__object object;
    uint32_t component;
    size_t size; /* of an element */
} dtype_object;

typedef struct tensor_desc {
    mw__object object;
    dtype_object *dtype;
    uint64_t rank, elements;
    uint64_t offset; /* of the first element in the memory, in elements */
    uint64_t size;   /* bytes from the start of the memory to behind the last element */
    uint64_t shape[MW_RANK_MAX];
    int64_t strides[MW_RANK_MAX];
} tensor_desc;

/* ---- element types ---- */

typedef struct component_row {
    uint32_t component;
    mw_dtype dtype;
} component_row;

static const component_row components[] = {
    {E5RT_MW_UINT8, MW_U8},  {E5RT_MW_INT8, MW_I8},    {E5RT_MW_FLOAT16, MW_F16}, {E5RT_MW_FLOAT32, MW_F32},
    {E5RT_MW_INT16, MW_I16}, {E5RT_MW_UINT16, MW_U16}, {E5RT_MW_INT32, MW_I32},   {E5RT_MW_UINT32, MW_U32},
    {E5RT_MW_INT64, MW_I64}, {E5RT_MW_UINT64, MW_U64}, {E5RT_MW_BOOL, MW_BOOL},   {E5RT_MW_FLOAT64, MW_F64},
};

static const component_row *find_component(uint32_t component, mw_dtype dtype)
{
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        if (components[i].component == component || components[i].dtype == dtype)
            return &components[i];
    return NULL;
}

static dtype_object *make_dtype(const component_row *row, mw_error *err)
{
    dtype_object *dtype = mw__object_create(sizeof *dtype, NULL, err);
    if (dtype == NULL)
        return NULL;
    dtype->component = row->component;
    dtype->size = mw__dtype_size(row->dtype);
    return dtype;
}

static mw_status create_dtype(void **out, uint32_t component, uint32_t pack, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const component_row *row = find_component(component, MW_DTYPE_NONE);
    if (row == NULL || pack != 1)
        return mw__fail(err, MW_ERROR_DTYPE, "there is no element of component %u in packs of %u", (unsigned)component,
                        (unsigned)pack);
    dtype_object *dtype = make_dtype(row, err);
    return dtype != NULL ? mw__handle_create(MW__KIND_DTYPE, dtype, out, err) : MW_ERROR_MEMORY;
}

e5rt_error_code e5rt_tensor_desc_dtype_create(void **out, uint32_t component, uint32_t pack)
{
    mw_error *err = mw__surface_begin();
    create_dtype(out, component, pack, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_dtype_release(void **dtype) { return mw__surface_release(dtype, MW__KIND_DTYPE); }

e5rt_error_code e5rt_tensor_desc_dtype_get_component_dtype(void *handle, uint32_t *out)
{
    mw_error *err = mw__surface_begin();
    const dtype_object *dtype = mw__surface_get_for(handle, MW__KIND_DTYPE, "dtype", out, err);
    if (dtype != NULL)
        *out = dtype->component;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_dtype_get_element_size(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const dtype_object *dtype = mw__surface_get_for(handle, MW__KIND_DTYPE, "dtype", out, err);
    if (dtype != NULL)
        *out = dtype->size;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_dtype_get_component_size(void *dtype, uint64_t *out)
{
    return e5rt_tensor_desc_dtype_get_element_size(dtype, out); /* there are no packs */
}

e5rt_error_code e5rt_tensor_desc_dtype_get_component_pack(void *handle, uint32_t *out)
{
    mw_error *err = mw__surface_begin();
    if (mw__surface_get_for(handle, MW__KIND_DTYPE, "dtype", out, err) != NULL)
        *out = 1;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_dtype_get_num_components(void *handle, unsigned char *out)
{
    mw_error *err = mw__surface_begin();
    if (mw__surface_get_for(handle, MW__KIND_DTYPE, "dtype", out, err) != NULL)
        *out = 1;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_dtype_validate_spec(uint32_t component, uint32_t pack, unsigned char *out)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err) && out == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    else if (!mw__failed(err))
        *out = pack == 1 && find_component(component, MW_DTYPE_NONE) != NULL;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_dtype_are_equal(void *a, void *b, unsigned char *out)
{
    mw_error *err = mw__surface_begin();
    const dtype_object *first = mw__surface_get_for(a, MW__KIND_DTYPE, "dtype", out, err);
    const dtype_object *second = first != NULL ? mw__surface_get_for(b, MW__KIND_DTYPE, "dtype", out, err) : NULL;
    if (second != NULL)
        *out = first->component == second->component;
    return mw__surface_end(err);
}

/* ---- tensors ---- */

static void destroy_desc(mw__object *object) { mw__object_release(((tensor_desc *)object)->dtype); }

/* Row-major; false if the elements cannot be counted. */
static bool fill_strides(tensor_desc *desc)
{
    size_t elements = 1;
    for (uint64_t axis = desc->rank; axis-- > 0;) {
        desc->strides[axis] = (int64_t)elements;
        if (!mw__mul_size(elements, (size_t)desc->shape[axis], &elements) || elements > PTRDIFF_MAX)
            return false;
    }
    return true;
}

/* From shape and strides; false if they do not fit in memory. */
static bool fill_sizes(tensor_desc *desc)
{
    size_t elements = 1, end = (size_t)desc->offset + 1, size;
    for (uint64_t axis = 0; axis < desc->rank; axis++)
        if (!mw__mul_size(elements, (size_t)desc->shape[axis], &elements) || elements > PTRDIFF_MAX)
            return false;
    for (uint64_t axis = 0; elements > 0 && axis < desc->rank; axis++)
        if (!mw__mul_size((size_t)desc->shape[axis] - 1, (size_t)desc->strides[axis], &size) ||
            !mw__add_size(end, size, &end))
            return false;
    if (!mw__mul_size(elements > 0 ? end : 0, desc->dtype->size, &size) || size > PTRDIFF_MAX)
        return false;
    desc->elements = elements;
    desc->size = size;
    return true;
}

/* Strides: NULL = row-major; `offset` is of the first element, in elements. */
static mw_status make_desc(void **out, const uint64_t *shape, const int64_t *strides, uint64_t rank, uint64_t offset,
                           dtype_object *dtype, mw_error *err)
{
    tensor_desc *desc = mw__object_create(sizeof *desc, destroy_desc, err);
    if (desc == NULL)
        return MW_ERROR_MEMORY;
    desc->dtype = mw__object_retain(dtype);
    desc->rank = rank;
    desc->offset = offset;
    if (rank > 0)
        memcpy(desc->shape, shape, (size_t)rank * sizeof *shape);
    if (rank > 0 && strides != NULL)
        memcpy(desc->strides, strides, (size_t)rank * sizeof *strides);
    if ((strides != NULL || fill_strides(desc)) && fill_sizes(desc))
        return mw__handle_create(MW__KIND_TENSOR_DESC, desc, out, err);
    mw__object_release(desc);
    return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: a tensor of that shape does not fit in memory");
}

mw_status mw__surface_tensor_desc_make(void **out, const mw__type *type, mw_error *err)
{
    const component_row *row = find_component(UINT32_MAX, type->dtype);
    uint64_t shape[MW_RANK_MAX];
    if (row == NULL)
        return mw__fail(err, MW_ERROR_DTYPE, "a description has no code for elements of %s",
                        mw_dtype_name(type->dtype));
    for (int axis = 0; axis < type->shape.rank; axis++)
        shape[axis] = (uint64_t)type->shape.dim[axis];
    dtype_object *dtype = make_dtype(row, err);
    if (dtype == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = make_desc(out, shape, NULL, (uint64_t)type->shape.rank, 0, dtype, err);
    mw__object_release(dtype);
    return status;
}

static mw_status create_desc(void **out, const uint64_t *shape, const int64_t *strides, uint64_t rank, void *handle,
                             mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    dtype_object *dtype = mw__handle_get(handle, MW__KIND_DTYPE, "dtype", err);
    if (dtype == NULL)
        return err->status;
    if (rank > MW_RANK_MAX || (shape == NULL && rank > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: rank %llu, of at most %d",
                        (unsigned long long)rank, MW_RANK_MAX);
    for (uint64_t axis = 0; strides != NULL && axis < rank; axis++)
        if (strides[axis] < 0)
            return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: stride %lld of axis %llu is negative",
                            (long long)strides[axis], (unsigned long long)axis);
    return make_desc(out, shape, strides, rank, 0, dtype, err);
}

e5rt_error_code e5rt_tensor_desc_create(void **out, const uint64_t *shape, uint64_t rank, void *dtype)
{
    mw_error *err = mw__surface_begin();
    create_desc(out, shape, NULL, rank, dtype, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_create_with_strides(void **out, const uint64_t *shape, const int64_t *strides,
                                                     uint64_t rank, void *dtype)
{
    mw_error *err = mw__surface_begin();
    if (mw__surface_out(out, err) == MW_OK && strides == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: strides is NULL");
    create_desc(out, shape, strides, rank, dtype, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_release(void **desc) { return mw__surface_release(desc, MW__KIND_TENSOR_DESC); }

static const tensor_desc *get_desc(void *handle, const void *out, mw_error *err)
{
    return mw__surface_get_for(handle, MW__KIND_TENSOR_DESC, "tensor description", out, err);
}

e5rt_error_code e5rt_tensor_desc_get_shape(void *handle, uint64_t *out_rank, const uint64_t **out_shape)
{
    mw_error *err = mw__surface_begin();
    const tensor_desc *desc = get_desc(handle, out_rank != NULL ? (const void *)out_shape : NULL, err);
    if (desc != NULL)
        *out_rank = desc->rank, *out_shape = desc->shape;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_get_strides(void *handle, uint64_t *out_rank, const int64_t **out_strides)
{
    mw_error *err = mw__surface_begin();
    const tensor_desc *desc = get_desc(handle, out_rank != NULL ? (const void *)out_strides : NULL, err);
    if (desc != NULL)
        *out_rank = desc->rank, *out_strides = desc->strides;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_get_rank(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const tensor_desc *desc = get_desc(handle, out, err);
    if (desc != NULL)
        *out = desc->rank;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_get_size(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const tensor_desc *desc = get_desc(handle, out, err);
    if (desc != NULL)
        *out = desc->size;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_get_num_elements(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const tensor_desc *desc = get_desc(handle, out, err);
    if (desc != NULL)
        *out = desc->elements;
    return mw__surface_end(err);
}

static mw_status retain_dtype(void *handle, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const tensor_desc *desc = mw__handle_get(handle, MW__KIND_TENSOR_DESC, "tensor description", err);
    if (desc == NULL)
        return err->status;
    return mw__handle_create(MW__KIND_DTYPE, mw__object_retain(desc->dtype), out, err);
}

e5rt_error_code e5rt_tensor_desc_retain_dtype(void *desc, void **out)
{
    mw_error *err = mw__surface_begin();
    retain_dtype(desc, out, err);
    return mw__surface_end(err);
}

static mw_status alloc_memory(void *handle, mw__kind kind, uint32_t type, uint64_t alignment, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const tensor_desc *desc = mw__handle_get(handle, MW__KIND_TENSOR_DESC, "tensor description", err);
    if (desc == NULL || type > 2)
        return err->status;
    if (alignment == 0 || alignment > 4096 || (alignment & (alignment - 1)) != 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "Invalid Function Argument: alignment %llu is no power of two up to 4096",
                        (unsigned long long)alignment);
    return mw__buffer_make(out, kind, desc->size, type, alignment > 64 ? (size_t)alignment : 64, err);
}

e5rt_error_code e5rt_tensor_desc_alloc_buffer_object(void *desc, uint32_t type, uint64_t alignment, void **out)
{
    mw_error *err = mw__surface_begin();
    alloc_memory(desc, MW__KIND_BUFFER, type, alignment, out, err);
    return mw__buffer_type_end(type, err);
}

e5rt_error_code e5rt_tensor_desc_create_memory_object(void *desc, uint32_t type, uint64_t alignment, void **out)
{
    mw_error *err = mw__surface_begin();
    alloc_memory(desc, MW__KIND_MEMORY, type, alignment, out, err);
    return mw__buffer_type_end(type, err);
}

/* ---- parts and elements ---- */

/* The call's end; `index` of an axis of `length` in bounds, if nothing else is wrong. */
static e5rt_error_code end_in_bounds(uint64_t index, uint64_t length, const char *what, mw_error *err)
{
    if (mw__failed(err) || index < length)
        return mw__surface_end(err);
    mw__fail(err, MW_ERROR_ARGUMENT, "%s %llu of %llu", what, (unsigned long long)index, (unsigned long long)length);
    mw__surface_end(err);
    return E5RT_OUT_OF_BOUNDS;
}

e5rt_error_code e5rt_tensor_desc_get_dimension_length(void *handle, uint64_t dimension, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const tensor_desc *desc = get_desc(handle, out, err);
    if (desc != NULL && dimension < desc->rank)
        *out = desc->shape[dimension];
    return end_in_bounds(dimension, desc != NULL ? desc->rank : 0, "dimension", err);
}

e5rt_error_code e5rt_tensor_desc_get_dimension_stride(void *handle, uint64_t dimension, int64_t *out)
{
    mw_error *err = mw__surface_begin();
    const tensor_desc *desc = get_desc(handle, out, err);
    if (desc != NULL && dimension < desc->rank)
        *out = desc->strides[dimension];
    return end_in_bounds(dimension, desc != NULL ? desc->rank : 0, "dimension", err);
}

e5rt_error_code e5rt_tensor_desc_has_known_shape(void *handle, e5rt_bool *out)
{
    mw_error *err = mw__surface_begin();
    if (get_desc(handle, out, err) != NULL)
        *out = 1;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_get_byte_offset(void *handle, const uint64_t *index, uint64_t rank, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const tensor_desc *desc = get_desc(handle, out, err);
    if (desc != NULL && (rank != desc->rank || (index == NULL && rank > 0)))
        mw__fail(err, MW_ERROR_ARGUMENT,
                 "Invalid Function Argument: an index of %llu numbers, the tensor has rank %llu",
                 (unsigned long long)(index != NULL ? rank : 0), (unsigned long long)desc->rank);
    if (mw__failed(err))
        return mw__surface_end(err);
    uint64_t element = desc->offset, axis = 0;
    for (; axis < rank && index[axis] < desc->shape[axis]; axis++)
        element += index[axis] * (uint64_t)desc->strides[axis];
    if (axis < rank)
        return end_in_bounds(index[axis], desc->shape[axis], "index", err);
    *out = element * desc->dtype->size;
    return mw__surface_end(err);
}

/* The part behind range[0] and before range[1], in the same memory. */
static e5rt_error_code create_slice(void *handle, uint64_t dimension, const uint64_t *range, void **out, mw_error *err)
{
    const tensor_desc *desc = mw__surface_out(out, err) == MW_OK ? get_desc(handle, out, err) : NULL;
    if (desc != NULL && range == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: range is NULL");
    if (mw__failed(err) || dimension >= desc->rank)
        return end_in_bounds(dimension, desc != NULL ? desc->rank : 0, "dimension", err);
    if (range[0] >= range[1] || range[1] > desc->shape[dimension])
        return end_in_bounds(range[0] >= range[1] ? range[0] : range[1] - 1,
                             range[0] >= range[1] ? 0 : desc->shape[dimension], "slice at index", err);
    uint64_t shape[MW_RANK_MAX];
    memcpy(shape, desc->shape, sizeof shape);
    shape[dimension] = range[1] - range[0];
    const uint64_t offset = desc->offset + range[0] * (uint64_t)desc->strides[dimension];
    make_desc(out, shape, desc->strides, desc->rank, offset, desc->dtype, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_create_slice(void *desc, uint64_t dimension, const uint64_t *range, void **out)
{
    return create_slice(desc, dimension, range, out, mw__surface_begin());
}

/* ---- operands ---- */

/* Another handle of the description, of the other kind. */
static e5rt_error_code convert(void **out, void *handle, mw__kind from, mw__kind to)
{
    mw_error *err = mw__surface_begin();
    void *desc = mw__surface_out(out, err) == MW_OK ? mw__surface_get(handle, from, "description", err) : NULL;
    if (desc != NULL)
        mw__handle_create(to, mw__object_retain(desc), out, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_operand_desc_retain_from_tensor_desc(void **out, void *desc)
{
    return convert(out, desc, MW__KIND_TENSOR_DESC, MW__KIND_OPERAND_DESC);
}

e5rt_error_code e5rt_tensor_desc_create_from_operand_desc(void **out, void *desc)
{
    return convert(out, desc, MW__KIND_OPERAND_DESC, MW__KIND_TENSOR_DESC);
}

e5rt_error_code e5rt_operand_desc_release(void **desc) { return mw__surface_release(desc, MW__KIND_OPERAND_DESC); }

static e5rt_error_code answer(void *handle, bool is_so, e5rt_bool *out)
{
    mw_error *err = mw__surface_begin();
    if (mw__surface_get_for(handle, MW__KIND_OPERAND_DESC, "operand description", out, err) != NULL)
        *out = is_so;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_operand_desc_is_tensor_desc(void *desc, e5rt_bool *out) { return answer(desc, true, out); }
e5rt_error_code e5rt_operand_desc_is_surface_desc(void *desc, e5rt_bool *out) { return answer(desc, false, out); }
