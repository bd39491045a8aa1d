/* e5rt: what calls of all kinds of objects begin with, see surface.h. */
#include "engine/surface/surface.h"

e5rt_error_code mw__surface_release(void **handle, mw__kind kind)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__handle_release(handle, kind, err);
    return mw__surface_end(err);
}

void *mw__surface_get(void *handle, mw__kind kind, const char *name, mw_error *err)
{
    return mw__failed(err) ? NULL : mw__handle_get(handle, kind, name, err);
}

void *mw__surface_get_for(void *handle, mw__kind kind, const char *name, const void *out, mw_error *err)
{
    void *object = mw__surface_get(handle, kind, name, err);
    if (object == NULL || out != NULL)
        return object;
    mw__fail(err, MW_ERROR_ARGUMENT, "Invalid Function Argument: the out pointer is NULL");
    return NULL;
}

e5rt_error_code mw__surface_end_bounds(uint64_t wanted, uint64_t count, const char *what, mw_error *err)
{
    if (mw__failed(err) || wanted <= count)
        return mw__surface_end(err);
    mw__fail(err, MW_ERROR_ARGUMENT, "%llu %s wanted, there are %llu", (unsigned long long)wanted, what,
             (unsigned long long)count);
    mw__surface_end(err);
    return E5RT_OUT_OF_BOUNDS;
}
