/* e5rt: the functions of other libraries that this engine has not, made from their rows. They read no argument, so that
 * they answer whatever the caller takes their parameters for. */
#include "engine/surface/surface.h"

static e5rt_error_code unavailable(const char *name, const char *why)
{
    mw_error *err = mw__surface_begin();
    if (!mw__failed(err))
        mw__fail(err, MW_ERROR_UNSUPPORTED, "%s is not available on this platform: %s", name, why);
    return mw__surface_end(err);
}

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

#define MW_E5RT(name, parameters, confidence, source, what)
#define MW_E5RT_ABSENT(name, parameters, confidence, source, why)                                                      \
    e5rt_error_code e5rt_##name parameters { return unavailable("e5rt_" #name, why); }
#define MW_E5RT_UNKNOWN(name, confidence, source)                                                                      \
    E5RT_API e5rt_error_code e5rt_##name(void);                                                                        \
    e5rt_error_code e5rt_##name(void) { return unavailable("e5rt_" #name, "its parameters are not known"); }
#include "engine/surface/symbols.def"
