/* e5rt: descriptions of tensors and of their element types. */
#include "base/checked.h"
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
    uint64_t rank, elements, size;
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

e5rt_error_code e5rt_tensor_desc_dtype_release(void **dtype)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__handle_release(dtype, MW__KIND_DTYPE, err);
    return mw__surface_end(err);
}

/* The object, if there is a place for what is asked of it. */
static void *get(void *handle, mw__kind kind, const char *name, const void *out, mw_error *err)
{
    void *object = mw__failed(err) ? NULL : mw__handle_get(handle, kind, name, err);
    if (object == NULL || out != NULL)
        return object;
    mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    return NULL;
}

e5rt_error_code e5rt_tensor_desc_dtype_get_component_dtype(void *handle, uint32_t *out)
{
    mw_error *err = mw__surface_begin();
    const dtype_object *dtype = get(handle, MW__KIND_DTYPE, "dtype", out, err);
    if (dtype != NULL)
        *out = dtype->component;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_dtype_get_element_size(void *handle, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const dtype_object *dtype = get(handle, MW__KIND_DTYPE, "dtype", out, err);
    if (dtype != NULL)
        *out = dtype->size;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_dtype_are_equal(void *a, void *b, unsigned char *out)
{
    mw_error *err = mw__surface_begin();
    const dtype_object *first = get(a, MW__KIND_DTYPE, "dtype", out, err);
    const dtype_object *second = first != NULL ? get(b, MW__KIND_DTYPE, "dtype", out, err) : NULL;
    if (second != NULL)
        *out = first->component == second->component;
    return mw__surface_end(err);
}

/* ---- tensors ---- */

static void destroy_desc(mw__object *object) { mw__object_release(((tensor_desc *)object)->dtype); }

/* Sizes and row-major strides; false if they do not fit. */
static bool fill_extents(tensor_desc *desc)
{
    size_t elements = 1, size;
    for (uint64_t axis = desc->rank; axis-- > 0;) {
        desc->strides[axis] = (int64_t)elements;
        if (!mw__mul_size(elements, (size_t)desc->shape[axis], &elements) || elements > PTRDIFF_MAX)
            return false;
    }
    if (!mw__mul_size(elements, desc->dtype->size, &size) || size > PTRDIFF_MAX)
        return false;
    desc->elements = elements;
    desc->size = size;
    return true;
}

/* Takes over a reference of the element type. */
static mw_status make_desc(void **out, const uint64_t *shape, uint64_t rank, dtype_object *dtype, mw_error *err)
{
    tensor_desc *desc = mw__object_create(sizeof *desc, destroy_desc, err);
    if (desc == NULL) {
        mw__object_release(dtype);
        return MW_ERROR_MEMORY;
    }
    desc->dtype = dtype;
    desc->rank = rank;
    if (rank > 0)
        memcpy(desc->shape, shape, (size_t)rank * sizeof *shape);
    if (fill_extents(desc))
        return mw__handle_create(MW__KIND_TENSOR_DESC, desc, out, err);
    mw__object_release(desc);
    return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: a tensor of that shape does not fit in memory");
}

mw_status mw__tensor_desc_make(void **out, const mw__type *type, mw_error *err)
{
    const component_row *row = find_component(UINT32_MAX, type->dtype);
    uint64_t shape[MW_RANK_MAX];
    if (row == NULL)
        return mw__fail(err, MW_ERROR_DTYPE, "a description has no code for elements of %s",
                        mw_dtype_name(type->dtype));
    for (int axis = 0; axis < type->shape.rank; axis++)
        shape[axis] = (uint64_t)type->shape.dim[axis];
    dtype_object *dtype = make_dtype(row, err);
    return dtype != NULL ? make_desc(out, shape, (uint64_t)type->shape.rank, dtype, err) : MW_ERROR_MEMORY;
}

static mw_status create_desc(void **out, const uint64_t *shape, uint64_t rank, void *handle, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    dtype_object *dtype = mw__handle_get(handle, MW__KIND_DTYPE, "dtype", err);
    if (dtype == NULL)
        return err->status;
    if (rank > MW_RANK_MAX || (shape == NULL && rank > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: rank %llu, of at most %d",
                        (unsigned long long)rank, MW_RANK_MAX);
    return make_desc(out, shape, rank, mw__object_retain(dtype), err);
}

e5rt_error_code e5rt_tensor_desc_create(void **out, const uint64_t *shape, uint64_t rank, void *dtype)
{
    mw_error *err = mw__surface_begin();
    create_desc(out, shape, rank, dtype, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_tensor_desc_release(void **desc)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__handle_release(desc, MW__KIND_TENSOR_DESC, err);
    return mw__surface_end(err);
}

static const tensor_desc *get_desc(void *handle, const void *out, mw_error *err)
{
    return get(handle, MW__KIND_TENSOR_DESC, "tensor description", out, err);
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

static mw_status alloc_buffer(void *handle, uint32_t type, uint64_t alignment, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const tensor_desc *desc = mw__handle_get(handle, MW__KIND_TENSOR_DESC, "tensor description", err);
    if (desc == NULL || type > 2)
        return err->status;
    if (alignment == 0 || alignment > 4096 || (alignment & (alignment - 1)) != 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "Invalid Function Argument: alignment %llu is no power of two up to 4096",
                        (unsigned long long)alignment);
    return mw__buffer_make(out, desc->size, type, alignment > 64 ? (size_t)alignment : 64, err);
}

e5rt_error_code e5rt_tensor_desc_alloc_buffer_object(void *desc, uint32_t type, uint64_t alignment, void **out)
{
    mw_error *err = mw__surface_begin();
    alloc_buffer(desc, type, alignment, out, err);
    return mw__buffer_type_end(type, err);
}
