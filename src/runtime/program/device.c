/* Which library and device a program gets, and their names in messages. */
#include "base/text/text.h"
#include "runtime/program/program_object.h"
#include "runtime/variables.h"

#include <stdio.h>
#include <string.h>

mw_compile_options mw_compile_defaults(void) { return (mw_compile_options){.struct_size = sizeof(mw_compile_options)}; }

static mw_device default_device(const mw__symbols *symbols)
{
    return symbols->provider == MW_PROVIDER_ESPRESSO ? MW_DEVICE_ANE : MW_DEVICE_CPU;
}

/* That which the environment or the options ask for, else the chip's. */
static mw_status choose_profile(const mw_compile_options *options, mw__target *out, mw_error *err)
{
    const char *set = mw__variable_profile();
    const char *profile = set != NULL && set[0] != '\0'       ? set
                          : options->profile != NULL          ? options->profile
                          : mw__arithmetic_has(options->chip) ? out->chip->name
                                                              : MW__ARITHMETIC_DEFAULT;
    MW_TRY(mw__arithmetic_parse(profile, &out->arithmetic, err));
    snprintf(out->profile, sizeof out->profile, "%s", profile);
    return MW_OK;
}

static mw_status choose_cache(const mw_compile_options *options, mw__target *out, mw_error *err)
{
    const char *folder = options->cache_folder != NULL ? options->cache_folder : "";
    if (options->cache_folder != NULL && (folder[0] == '\0' || strlen(folder) >= sizeof out->cache_folder))
        return mw__fail(err, MW_ERROR_ARGUMENT, "compile option cache_folder has %zu bytes; it must have 1 to %zu",
                        strlen(folder), sizeof out->cache_folder - 1);
    snprintf(out->cache_folder, sizeof out->cache_folder, "%s", folder);
    return MW_OK;
}

static mw_status choose_passes(const mw_compile_options *options, mw__target *out, mw_error *err)
{
    out->off = (mw__rule_set){0};
    MW_TRY(mw__pass_set_parse(&out->off, "MW_PASSES_OFF", mw__variable_passes_off(), err));
    return mw__pass_set_parse(&out->off, "compile option passes.off", options->passes.off, err);
}

void mw__program_log_init(mw__pass_log *log, const mw_compile_options *options, const mw__target *target)
{
    mw__pass_log_init(log, mw__allocator_or_default(options->allocator));
    log->off = target->off;
    log->report = options->passes.report;
    log->user = options->passes.report_user;
    log->why = options->passes.why;
    log->texts = options->passes.texts;
}

mw_status mw__target_resolve(const mw_compile_options *options, mw__target *out, mw_error *err)
{
    if (options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "compile options were not made by mw_compile_defaults");
    if (options->threads < 0 || options->threads > 1024)
        return mw__fail(err, MW_ERROR_ARGUMENT, "compile option threads is %d, not in 0 .. 1024", options->threads);
    if (options->max_plans < 0 || options->max_plans > 1024)
        return mw__fail(err, MW_ERROR_ARGUMENT, "compile option max_plans is %d, not in 0 .. 1024", options->max_plans);
    const mw_device device = options->device;
    out->device = mw__device_find((uint64_t)device);
    if (device != MW_DEVICE_AUTO && (out->device == NULL || out->device->mask != (uint64_t)device))
        return mw__fail(err, MW_ERROR_ARGUMENT, "unknown device %d", (int)device);
    MW_TRY(mw__chip_find_known(options->chip, &out->chip, err));
    if (!out->chip->runs_mil)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "chip %s runs no MIL, so nothing is compiled for it; the first that does is h13, M1 "
                        "(source: ane-guide, chapter 24; ANEForge, families)",
                        out->chip->name);
    MW_TRY(choose_profile(options, out, err));
    MW_TRY(choose_cache(options, out, err));
    MW_TRY(choose_passes(options, out, err));
    MW_TRY(mw__symbols_load(&out->symbols, options->provider, err));
    if (device == MW_DEVICE_AUTO)
        out->device = mw__device_find(default_device(&out->symbols));
    out->threads = (uint64_t)options->threads;
    out->flush_subnormals = options->flush_subnormals;
    out->exact_convolution = options->exact_convolution;
    if (out->device->engine == NULL && out->symbols.provider == MW_PROVIDER_ENGINE)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "the engine has no GPU; use MW_DEVICE_CPU or MW_DEVICE_ANE");
    return MW_OK;
}

const char *mw__provider_name(const mw__symbols *symbols)
{
    if (symbols->foreign)
        return "library of MW_E5RT_LIBRARY";
    return symbols->provider == MW_PROVIDER_ESPRESSO ? "espresso" : "engine";
}

const char *mw__target_describe(const mw__target *target, const mw__dispatch *dispatch, mw__arena *arena, mw_error *err)
{
    const char *summary = dispatch != NULL ? mw__dispatch_summary(dispatch) : NULL;
    mw__text text;
    mw__text_init(&text, arena->allocator);
    mw__text_printf(&text, "%s, %s", mw__provider_name(&target->symbols),
                    summary != NULL ? summary : target->device->name);
    const char *copy = mw__text_check(&text, err) == MW_OK ? mw__arena_string(arena, text.data, text.size, err) : NULL;
    mw__text_deinit(&text);
    return copy;
}
