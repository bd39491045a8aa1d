#include "library.h"

#include "base/number/fp16.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *library_path(void)
{
    const char *named = getenv("MW_E5RT_LIBRARY");
    if (named != NULL && named[0] != '\0')
        return named;
#ifdef __APPLE__
    return "/System/Library/PrivateFrameworks/Espresso.framework/Espresso";
#else
    return NULL;
#endif
}

mw_compile_options library_options(const char *profile)
{
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_ANE;
    options.provider = profile != NULL ? MW_PROVIDER_ENGINE : MW_PROVIDER_AUTO;
    options.profile = profile;
    return options;
}

/* ---- results ---- */

enum { PORTS_MAX = 64 };

typedef struct results {
    void *data[PORTS_MAX];
    size_t size[PORTS_MAX], count;
    mw_port port[PORTS_MAX];
} results;

static void drop(results *r)
{
    for (size_t i = 0; i < r->count; i++)
        free(r->data[i]);
    *r = (results){0};
}

static bool take(mw_program *program, results *out, mw_error *err)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port) && out->count < PORTS_MAX; i++) {
        const void *data = port.is_output ? mw_program_view(program, port.name, err) : NULL;
        if (data == NULL)
            continue;
        const size_t size = (size_t)mw_shape_count(port.shape) * (size_t)(mw_dtype_bits(port.dtype) / 8);
        out->size[out->count] = size;
        out->port[out->count] = port;
        out->data[out->count] = malloc(size + 1);
        if (out->data[out->count] != NULL)
            memcpy(out->data[out->count], data, size);
        out->count++;
    }
    return err->status == MW_OK;
}

static bool run(const mw_graph *graph, const char *profile, library_feed *feed, void *user, results *out, mw_error *err)
{
    const mw_compile_options options = library_options(profile);
    mw_program *program = mw_program_create(graph, &options, err);
    const bool good = program != NULL && feed(user, program, err) && mw_program_run(program, err) == MW_OK;
    const bool taken = good && take(program, out, err);
    mw_program_destroy(program);
    return taken;
}

/* ---- how far ---- */

static double element(const void *data, mw_dtype dtype, size_t i)
{
    switch (dtype) {
    case MW_F16:
        return mw__fp16_to_float(((const uint16_t *)data)[i]);
    case MW_F32:
        return ((const float *)data)[i];
    case MW_I32:
        return ((const int32_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

/* The farthest element beside the largest of its tensor; 0 for equal bits, infinite where one is finite alone. */
static double distance(const results *a, const results *b)
{
    double farthest = a->count == b->count ? 0.0 : INFINITY;
    for (size_t p = 0; p < a->count && p < b->count; p++) {
        if (a->size[p] != b->size[p])
            return INFINITY;
        if (memcmp(a->data[p], b->data[p], a->size[p]) == 0)
            continue;
        double off = 0.0, largest = ldexp(1.0, -14);
        for (size_t i = 0; i < (size_t)mw_shape_count(a->port[p].shape); i++) {
            const double x = element(a->data[p], a->port[p].dtype, i), y = element(b->data[p], b->port[p].dtype, i);
            if (x == y || (isnan(x) && isnan(y)))
                continue;
            off = isfinite(x - y) ? fmax(off, fabs(x - y)) : INFINITY;
            largest = isfinite(y) ? fmax(largest, fabs(y)) : largest;
        }
        farthest = fmax(farthest, fmax(off / largest, ldexp(1.0, -30))); /* -0 is not 0 */
    }
    return farthest;
}

/* Two roundings of fp16 in each of some ten operations. */
static const double near = 0.01;

void library_compare(const mw_graph *graph, library_feed *feed, void *user, ane_result *out)
{
    static const char *const profiles[] = {"h17", "h16", "h15", "h14", "h13", "ieee"};
    mw_error err = {0};
    results theirs = {0};
    const char *nearest = "";
    char equal[64] = "";
    double best = INFINITY;
    if (!run(graph, NULL, feed, user, &theirs, &err)) {
        ane_say(out, "refused", "%s", err.message);
        drop(&theirs);
        return;
    }
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
        results ours = {0};
        mw_error own = {0};
        const double off = run(graph, profiles[i], feed, user, &ours, &own) ? distance(&theirs, &ours) : INFINITY;
        if (off == 0.0)
            snprintf(equal + strlen(equal), sizeof equal - strlen(equal), " %s", profiles[i]);
        nearest = off < best || nearest[0] == '\0' ? profiles[i] : nearest;
        best = fmin(best, off);
        drop(&ours);
    }
    if (equal[0] != '\0')
        ane_say(out, "equal", "to%s", equal);
    else
        ane_say(out, best <= near ? "near" : "differs", "nearest %s, farthest element %.2g of the largest", nearest,
                best);
    drop(&theirs);
}
