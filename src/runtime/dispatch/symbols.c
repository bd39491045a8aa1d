/* Filling the table of e5rt functions: from the engine in this library, or by dlsym. It does not call them. Libraries
 * are never unloaded: frameworks cannot be, and an engine may have threads that still run its code. */
#include "runtime/dispatch/symbols.h"
#include "runtime/dispatch/thread_hooks.h"
#include "runtime/variables.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define ESPRESSO "/System/Library/PrivateFrameworks/Espresso.framework/Espresso"

enum { OPTIONAL = 0, REQUIRED = 1 };

typedef struct symbol_row {
    const char *name; /* with a leading "_", which some tools see */
    size_t offset;
    int need;
} symbol_row;

static const symbol_row rows[] = {
#define MW_SYMBOL(name, need) {"_e5rt_" #name, offsetof(mw__symbols, name), need},
#include "runtime/dispatch/e5rt_symbols.def"
#undef MW_SYMBOL
};

static const mw__symbols engine = {
#define MW_SYMBOL(name, need) .name = e5rt_##name,
#include "runtime/dispatch/e5rt_symbols.def"
#undef MW_SYMBOL
    .provider = MW_PROVIDER_ENGINE,
};

/* `origin` begins the messages: who named the path. */
static mw_status load_library(mw__symbols *out, const char *path, const char *origin, mw_error *err)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        return mw__fail(err, MW_ERROR_DEVICE, "%scannot load the e5rt library %s: %s", origin, path,
                        reason ? reason : "unknown");
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        void *address = dlsym(library, rows[i].name + 1);
        if (address == NULL)
            address = dlsym(library, rows[i].name);
        if (address == NULL && rows[i].need == REQUIRED)
            return mw__fail(err, MW_ERROR_DEVICE, "%sthe e5rt library %s lacks the function %s", origin, path,
                            rows[i].name + 1);
        memcpy((char *)out + rows[i].offset, &address, sizeof address); /* ISO C has no cast for this */
    }
    return MW_OK;
}

static mw_status load_espresso(mw__symbols *out, mw_error *err)
{
    out->provider = MW_PROVIDER_ESPRESSO;
#if defined(__APPLE__)
    return load_library(out, ESPRESSO, "", err);
#else
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "provider espresso: Espresso.framework exists on macOS only; use MW_PROVIDER_ENGINE");
#endif
}

mw_status mw__symbols_load(mw__symbols *out, mw_provider provider, mw_error *err)
{
    memset(out, 0, sizeof *out);
    const char *path = mw__variable_e5rt_library();
    if (provider == MW_PROVIDER_AUTO && path != NULL) {
        out->provider = MW_PROVIDER_ENGINE;
        out->foreign = true;
        MW_TRY(load_library(out, path, "MW_E5RT_LIBRARY: ", err));
        return mw__dispatch_tell_thread_hooks(out, err);
    }
#if defined(__APPLE__)
    if (provider == MW_PROVIDER_AUTO)
        provider = MW_PROVIDER_ESPRESSO;
#endif
    if (provider == MW_PROVIDER_ESPRESSO)
        return load_espresso(out, err);
    if (provider != MW_PROVIDER_AUTO && provider != MW_PROVIDER_ENGINE)
        return mw__fail(err, MW_ERROR_ARGUMENT, "unknown provider %d", (int)provider);
    *out = engine;
    return MW_OK;
}

static mw_status status_of(int32_t code)
{
    switch (code) {
    case E5RT_ALLOCATION_FAILURE:
        return MW_ERROR_MEMORY;
    case E5RT_INVALID_OPERATION: /* a call out of order, or after a fork */
        return MW_ERROR_STATE;
    default:
        return MW_ERROR_DEVICE;
    }
}

/* What the user knows of a call; the function's name is for whoever reads the reports. */
static const char *doing(const char *function)
{
    static const struct {
        const char *part, *text;
    } steps[] = {
        {"e5_compiler_compile", "the program cannot be compiled"},
        {"e5_compiler", "the compiler cannot be set up"},
        {"program_library", "the compiled program cannot be used"},
        {"program_function", "the compiled program cannot be used"},
        {"precompiled_compute_op", "the compiled program cannot be used"},
        {"retain_input_port", "an input port cannot be found"},
        {"retain_output_port", "an output port cannot be found"},
        {"prepare_op_for_encode", "the program cannot be changed after it has run"},
        {"stream_reset", "the program cannot be changed after it has run"},
        {"sync_wait", "the run did not end well"},
        {"async_event", "an event cannot be used"},
        {"_events", "an event cannot be bound to an operation"},
        {"completion_event", "an event cannot be bound to an operation"},
        {"bind_buffer", "a buffer cannot be bound to a port"},
        {"buffer_object", "a buffer cannot be made"},
        {"encode_operation", "the program cannot be prepared to run"},
        {"execute_sync", "the program cannot be run"},
        {"submit_async", "the program cannot be run"},
        {"set_profiling", "the program cannot be profiled"},
        {"mw_plan", "the plan cannot be read"},
        {"thread_hooks", "the hooks for threads cannot be set"},
    };
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (strstr(function, steps[i].part) != NULL)
            return steps[i].text;
    }
    return "the device cannot be used";
}

mw_status mw__symbols_check(const mw__symbols *symbols, e5rt_error_code code, const char *what, mw_error *err)
{
    const int32_t narrow = (int32_t)code; /* Espresso returns 32 bits; the upper half of the register is undefined */
    if (narrow == E5RT_OK)
        return MW_OK;
    const char *text = symbols->get_last_error_message != NULL ? symbols->get_last_error_message() : NULL;
    return mw__fail(err, status_of(narrow), "%s: %s (%s gave code %d)", doing(what),
                    text != NULL && text[0] != '\0' ? text : "it failed, and the e5rt library gives no reason", what,
                    (int)narrow);
}
