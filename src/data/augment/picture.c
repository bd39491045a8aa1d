/* Which column of a set has pictures, and how they lie. */
#include "data/augment/augment.h"
#include "runtime/data/data.h"

#include <string.h>

mw_status mw__picture_find_column(const mw_dataset *source, const char *call, const char *name, size_t *out,
                                  mw_error *err)
{
    for (*out = 0; *out < source->column_count; ++*out)
        if (strcmp(source->columns[*out].name, name) == 0)
            return MW_OK;
    *out = 0;
    return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the data set has no column \"%.100s\"", call, name);
}

mw_status mw__picture_measure(const mw_column *column, const char *call, bool channels_first, mw__augment_image *out,
                              mw_error *err)
{
    const mw_shape shape = column->shape;
    const bool first = channels_first && shape.rank == 3;
    if (column->dtype != MW_U8 && column->dtype != MW_F32)
        return mw__fail(err, MW_ERROR_DTYPE, "%s: column \"%.100s\" is %s; images are U8 or F32", call, column->name,
                        mw_dtype_name(column->dtype));
    if (shape.rank != 2 && shape.rank != 3)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "%s: column \"%.100s\" has rank %d; an image is [H, W], [H, W, C] or [C, H, W]", call,
                        column->name, shape.rank);
    *out = (mw__augment_image){.is_float = column->dtype == MW_F32,
                               .height = shape.dim[first ? 1 : 0],
                               .width = shape.dim[first ? 2 : 1],
                               .channels = shape.rank == 2 ? 1 : shape.dim[first ? 0 : 2]};
    out->column = first ? 1 : out->channels;
    out->row = out->width * out->column;
    out->channel = first ? out->height * out->width : 1;
    return MW_OK;
}
