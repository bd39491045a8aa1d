/* What is to be watched: the options of it. */
#include "base/text/name.h"
#include "runtime/trainer/options/trainer_options.h"

#include <string.h>

_Static_assert(sizeof(mw__watch) <= sizeof(mw_watch), "it holds one");

static mw_watch hide(const mw__watch *watch)
{
    mw_watch hidden = {{0}};
    memcpy(&hidden, watch, sizeof *watch);
    return hidden;
}

mw__watch mw__watch_of_value(const mw_watch *hidden)
{
    mw__watch watch;
    memcpy(&watch, hidden, sizeof watch);
    return watch;
}

mw_watch mw_watch_tensor(mw_tensor *tensor, const char *name, mw_watch_kind kind)
{
    return hide(&(mw__watch){.of = MW_WATCH_TENSOR, .kind = kind, .tensor = tensor, .text = name});
}

/* MW_WATCH_TENSOR is refused by its tensor, which is NULL. */
mw_watch mw_watch_parameters(mw_watch_of of, const char *pattern, mw_watch_kind kind)
{
    return hide(&(mw__watch){.of = of, .kind = kind, .text = pattern});
}

const char *mw__watch_name(const mw__watch *watch)
{
    return watch->text != NULL ? watch->text : mw_tensor_name(watch->tensor);
}

static mw_status check_tensor(const mw_trainer_options *o, const mw__watch *watch, size_t index, mw_error *err)
{
    if (watch->tensor == NULL)
        return mw__fail_null(err, "trainer: the tensor of watch %zu is NULL", index);
    if (watch->tensor->graph != o->loss->graph)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: watch %zu is of another graph than the loss", index);
    const char *fault = mw__name_fault(mw__watch_name(watch));
    if (fault != NULL || strlen(mw__watch_name(watch)) > MW_NAME_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: the name of watch %zu %s", index,
                        fault != NULL ? fault : "is too long");
    const mw_dtype dtype = mw_tensor_dtype(watch->tensor);
    if (dtype != MW_F32 && dtype != MW_F16)
        return mw__fail(err, MW_ERROR_DTYPE, "trainer: \"%.100s\" cannot be watched: it is %s, not fp32 or fp16",
                        mw__watch_name(watch), mw_dtype_name(dtype));
    if (mw_shape_count(mw_tensor_shape(watch->tensor)) == 0)
        return mw__fail(err, MW_ERROR_SHAPE, "trainer: \"%.100s\" cannot be watched: it has no elements",
                        mw__watch_name(watch));
    return MW_OK;
}

mw_status mw__trainer_check_watches(const mw_trainer_options *o, mw_error *err)
{
    if (o->watch.values == NULL && o->watch.count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: watch.count is %zu, but watch.values is NULL",
                        o->watch.count);
    bool whole = o->watch.gradient_norms;
    for (size_t i = 0; i < o->watch.count; i++)
        whole = whole || mw__watch_of_value(&o->watch.values[i]).of != MW_WATCH_TENSOR;
    if (whole && o->ranks.shard_states)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: with ranks.shard_states no rank has whole gradients: only tensors can be watched");
    for (size_t i = 0; i < o->watch.count; i++) {
        const mw__watch watch = mw__watch_of_value(&o->watch.values[i]);
        if ((unsigned)watch.of > MW_WATCH_UPDATE || (unsigned)watch.kind > MW_WATCH_NORM)
            return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: watch %zu is of %d and kind %d, which there is not", i,
                            (int)watch.of, (int)watch.kind);
        if (watch.of == MW_WATCH_TENSOR)
            MW_TRY(check_tensor(o, &watch, i, err));
        else if (watch.text == NULL || watch.text[0] == '\0')
            return mw__fail(err, MW_ERROR_ARGUMENT, "trainer: watch %zu has no pattern of parameters", i);
    }
    return MW_OK;
}
