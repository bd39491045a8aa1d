/* The e5rt call sequence: compile, operation, ports, stream, execute, release. It knows sizes and names, not tensors.
 */
#include "runtime/dispatch/dispatch_core.h"

#include "base/memory/checked.h"

#include <string.h>

/* The objects that are needed during compilation only. */
typedef struct compiler_set {
    void *config, *compiler, *options;
} compiler_set;

/* ---- buffers ---- */

size_t mw__dispatch_buffer_memory(size_t size)
{
    size_t rounded;
    return mw__round_up_size(size < 64 ? 64 : size, 64, &rounded) ? rounded : 0;
}

mw_status mw__dispatch_buffer_alloc(const mw__symbols *symbols, size_t size, mw__device_buffer *out, mw_error *err)
{
    *out = (mw__device_buffer){0};
    const size_t rounded = mw__dispatch_buffer_memory(size);
    if (rounded == 0)
        return mw__fail(err, MW_ERROR_MEMORY, "a buffer of %zu bytes does not fit", size);
    MW_TRY(MW__E5RT(symbols, buffer_object_alloc, &out->object, rounded, 0));
    out->size = size;
    const mw_status status = MW__E5RT(symbols, buffer_object_get_data_ptr, out->object, &out->data);
    if (status != MW_OK) {
        mw__dispatch_buffer_release(symbols, out);
        return status;
    }
    if (!mw__symbols_are_engine(symbols)) /* whose buffers are zero, in pages that nobody has touched */
        memset(out->data, 0, rounded);
    return MW_OK;
}

void mw__dispatch_buffer_release(const mw__symbols *symbols, mw__device_buffer *buffer)
{
    if (buffer->object != NULL)
        symbols->buffer_object_release(&buffer->object);
    *buffer = (mw__device_buffer){0};
}

/* ---- compile ---- */

static void compiler_release(const mw__symbols *symbols, compiler_set *set)
{
    if (set->options != NULL)
        symbols->e5_compiler_options_release(&set->options);
    if (set->compiler != NULL)
        symbols->e5_compiler_release(&set->compiler);
    if (set->config != NULL)
        symbols->e5_compiler_config_options_release(&set->config);
}

static mw_status set_custom(const mw__symbols *symbols, void *options, const char *custom, mw_error *err)
{
    if (symbols->e5_compiler_options_set_custom_ane_compiler_options == NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "the e5rt library takes no custom ANE compiler options");
    return MW__E5RT(symbols, e5_compiler_options_set_custom_ane_compiler_options, options, custom);
}

/* Of the engine: another library has none. NULL = as it is. */
static mw_status set_variable(const mw__symbols *symbols, void *config, const char *name, const char *value,
                              mw_error *err)
{
    if (value == NULL || symbols->mw_e5_compiler_config_options_set_variable == NULL)
        return MW_OK;
    return MW__E5RT(symbols, mw_e5_compiler_config_options_set_variable, config, name, value);
}

static mw_status compiler_prepare(const mw__dispatch_options *o, compiler_set *set, mw_error *err)
{
    const mw__symbols *symbols = o->symbols;
    MW_TRY(MW__E5RT(symbols, e5_compiler_config_options_create, &set->config));
    if (o->cache_folder != NULL)
        MW_TRY(MW__E5RT(symbols, e5_compiler_config_options_set_cache_bundle_location, set->config, o->cache_folder));
    MW_TRY(set_variable(symbols, set->config, "MW_ENGINE_PROFILE", o->profile, err));
    MW_TRY(set_variable(symbols, set->config, "MW_ENGINE_SUBNORMALS", o->flush_subnormals ? "flushed" : NULL, err));
    MW_TRY(set_variable(symbols, set->config, "MW_ENGINE_EXACT_CONVOLUTION", o->exact_convolution ? "1" : NULL, err));
    MW_TRY(set_variable(symbols, set->config, "MW_PASSES_OFF", o->off, err));
    MW_TRY(MW__E5RT(symbols, e5_compiler_create_with_config, &set->compiler, set->config));
    MW_TRY(MW__E5RT(symbols, e5_compiler_options_create, &set->options));
    MW_TRY(MW__E5RT(symbols, e5_compiler_options_set_compute_device_types_mask, set->options, o->mask));
    MW_TRY(MW__E5RT(symbols, e5_compiler_options_set_force_recompilation, set->options, !o->reuse));
    MW_TRY(MW__E5RT(symbols, e5_compiler_options_set_segmenter, set->options, "graph"));
    if (o->profiling && symbols->e5_compiler_options_set_enable_profiling != NULL)
        MW_TRY(MW__E5RT(symbols, e5_compiler_options_set_enable_profiling, set->options, 1));
    if (o->threads != 0 && symbols->mw_e5_compiler_options_set_threads != NULL)
        MW_TRY(MW__E5RT(symbols, mw_e5_compiler_options_set_threads, set->options, o->threads));
    if (mw__pass_is_watched(o->log) && symbols->mw_e5_compiler_options_set_pass_report != NULL)
        MW_TRY(MW__E5RT(symbols, mw_e5_compiler_options_set_pass_report, set->options, mw__dispatch_hear_pass, o->log,
                        o->log->why, o->log->texts));
    if (o->owned && symbols->mw_e5_compiler_options_set_private != NULL)
        MW_TRY(MW__E5RT(symbols, mw_e5_compiler_options_set_private, set->options, 1));
    return o->custom != NULL ? set_custom(symbols, set->options, o->custom, err) : MW_OK;
}

mw_status mw__dispatch_stream_operation_make(const mw__dispatch *d, const char *name,
                                             mw__dispatch_stream_operation *out, mw_error *err)
{
    const mw__symbols *s = &d->symbols;
    MW_TRY(MW__E5RT(s, precompiled_compute_op_create_options_create_with_program_function, &out->options, d->function));
    MW_TRY(MW__E5RT(s, precompiled_compute_op_create_options_set_operation_name, out->options, name));
    MW_TRY(MW__E5RT(s, precompiled_compute_op_create_options_set_allocate_intermediate_buffers, out->options, 1));
    return MW__E5RT(s, execution_stream_operation_create_precompiled_compute_operation_with_options, &out->object,
                    out->options);
}

void mw__dispatch_stream_operation_release(const mw__symbols *symbols, mw__dispatch_stream_operation *operation)
{
    if (operation->object != NULL)
        symbols->execution_stream_operation_release(&operation->object);
    if (operation->options != NULL)
        symbols->precompiled_compute_op_create_options_release(&operation->options);
}

static mw_status make_operation(mw__dispatch *d, const char *name, mw_error *err)
{
    MW_TRY(MW__E5RT(&d->symbols, program_library_retain_program_function, d->library, "main", &d->function));
    return name != NULL ? mw__dispatch_stream_operation_make(d, name, &d->operation, err) : MW_OK;
}

static mw_status compile_dispatch(mw__dispatch *d, const mw__dispatch_options *o, mw_error *err)
{
    d->ports = mw__alloc(d->allocator, o->port_count, sizeof *d->ports, err);
    if (d->ports == NULL)
        return MW_ERROR_MEMORY;
    d->port_capacity = o->port_count;
    compiler_set set = {0};
    mw_status status = compiler_prepare(o, &set, err);
    if (status == MW_OK)
        status = MW__E5RT(&d->symbols, e5_compiler_compile, set.compiler, o->mil_path, set.options, &d->library);
    if (status == MW_OK)
        status = make_operation(d, o->name, err);
    compiler_release(&d->symbols, &set);
    return status;
}

mw__dispatch *mw__dispatch_create(const mw__dispatch_options *options, mw_error *err)
{
    mw__dispatch *d = mw__alloc(options->allocator, 1, sizeof *d, err);
    if (d == NULL)
        return NULL;
    d->allocator = options->allocator;
    d->symbols = *options->symbols;
    if (compile_dispatch(d, options, err) == MW_OK)
        return d;
    mw__dispatch_destroy(d);
    return NULL;
}

mw_status mw__dispatch_check(const mw__dispatch_options *options, int32_t *out_code, mw_error *err)
{
    const mw__symbols *symbols = options->symbols;
    compiler_set set = {0};
    void *library = NULL;
    *out_code = 0;
    mw_status status = compiler_prepare(options, &set, err);
    if (status == MW_OK) {
        const e5rt_error_code code =
            symbols->e5_compiler_compile(set.compiler, options->mil_path, set.options, &library);
        *out_code = (int32_t)code;
        status = mw__symbols_check(symbols, code, "e5rt_e5_compiler_compile", err);
    }
    if (library != NULL)
        symbols->program_library_release(&library);
    compiler_release(symbols, &set);
    return status;
}

/* ---- ports ---- */

static void drop_buffer(const mw__symbols *symbols, mw__dispatch_port_binding *port)
{
    if (port->owned)
        mw__dispatch_buffer_release(symbols, &port->buffer);
    port->buffer = (mw__device_buffer){0};
    port->owned = false;
}

void mw__dispatch_port_release(const mw__symbols *symbols, mw__dispatch_port_binding *port)
{
    if (port->port != NULL)
        symbols->io_port_release(&port->port);
    drop_buffer(symbols, port);
}

mw_status mw__dispatch_port_bind(const mw__symbols *s, void *operation, mw__dispatch_port_binding *port, size_t size,
                                 const mw__device_buffer *shared, mw_error *err)
{
    if (operation != NULL && port->is_output)
        MW_TRY(MW__E5RT(s, execution_stream_operation_retain_output_port, operation, port->name, &port->port));
    else if (operation != NULL)
        MW_TRY(MW__E5RT(s, execution_stream_operation_retain_input_port, operation, port->name, &port->port));
    if (shared != NULL) {
        port->buffer = *shared;
    } else {
        MW_TRY(mw__dispatch_buffer_alloc(s, size, &port->buffer, err));
        port->owned = true;
    }
    if (operation == NULL)
        return MW_OK;
    return MW__E5RT(s, io_port_bind_buffer_object, port->port, port->buffer.object);
}

mw_status mw__dispatch_add_port(mw__dispatch *d, const char *name, bool is_output, size_t size,
                                const mw__device_buffer *shared, mw_error *err)
{
    MW_TRY(mw__grow(d->allocator, &d->ports, &d->port_capacity, d->port_count + 1, sizeof *d->ports, err));
    const size_t length = strlen(name);
    char *copy = mw__alloc(d->allocator, length + 1, 1, err);
    if (copy == NULL)
        return MW_ERROR_MEMORY;
    memcpy(copy, name, length);
    mw__dispatch_port_binding *port =
        &d->ports[d->port_count++]; /* counted at once: destroy cleans up a half-made one */
    *port = (mw__dispatch_port_binding){.name = copy, .is_output = is_output};
    return mw__dispatch_port_bind(&d->symbols, d->operation.object, port, size, shared, err);
}

mw_status mw__dispatch_finish(mw__dispatch *d, mw_error *err)
{
    MW_TRY(MW__E5RT(&d->symbols, execution_stream_create, &d->stream));
    return d->chain != NULL ? mw__chain_finish(d, err) : MW_OK;
}

mw_status mw__dispatch_rebind(mw__dispatch *d, size_t index, const mw__device_buffer *buffer, mw_error *err)
{
    mw__dispatch_port_binding *port = &d->ports[index];
    if (d->encoded)
        return mw__fail(err, MW_ERROR_STATE,
                        "port \"%s\" cannot be bound to another buffer: the program has run, which freezes bindings",
                        port->name);
    MW_TRY(MW__E5RT(&d->symbols, io_port_bind_buffer_object, port->port, buffer->object));
    drop_buffer(&d->symbols, port);
    port->buffer = *buffer;
    return MW_OK;
}

/* ---- run ---- */

mw_status mw__dispatch_encode(mw__dispatch *d, mw_error *err)
{
    if (!d->encoded) {
        MW_TRY(MW__E5RT(&d->symbols, execution_stream_encode_operation, d->stream, d->operation.object));
        d->encoded = true;
    }
    return MW_OK;
}

mw_status mw__dispatch_execute(mw__dispatch *d, mw_error *err)
{
    if (!d->encoded)
        MW_TRY(mw__dispatch_encode(d, err));
    return MW__E5RT(&d->symbols, execution_stream_execute_sync, d->stream);
}

/* ---- queries ---- */

const mw__symbols *mw__dispatch_symbols(const mw__dispatch *d) { return &d->symbols; }

void *mw__dispatch_operation(const mw__dispatch *d) { return d->operation.object; }

size_t mw__dispatch_port_count(const mw__dispatch *d) { return d->port_count; }

size_t mw__dispatch_find(const mw__dispatch *d, const char *name, bool is_output)
{
    for (size_t i = 0; i < d->port_count; i++) {
        if (d->ports[i].is_output == is_output && strcmp(d->ports[i].name, name) == 0)
            return i;
    }
    return d->port_count;
}

/* The bytes of the elements of a port, 0 where the library does not say. */
static size_t wanted_size(const mw__symbols *s, void *port)
{
    void *desc = NULL, *dtype = NULL;
    uint64_t rank = 0, element = 0;
    const uint64_t *shape = NULL;
    size_t size = 0;
    const bool known = s->io_port_retain_tensor_desc != NULL && s->tensor_desc_release != NULL &&
                       s->tensor_desc_get_shape != NULL && s->tensor_desc_retain_dtype != NULL &&
                       s->tensor_desc_dtype_release != NULL && s->tensor_desc_dtype_get_element_size != NULL;
    if (!known || port == NULL || (int32_t)s->io_port_retain_tensor_desc(port, &desc) != E5RT_OK)
        return 0;
    if ((int32_t)s->tensor_desc_get_shape(desc, &rank, &shape) == E5RT_OK &&
        (int32_t)s->tensor_desc_retain_dtype(desc, &dtype) == E5RT_OK) {
        if ((int32_t)s->tensor_desc_dtype_get_element_size(dtype, &element) == E5RT_OK)
            size = (size_t)element;
        for (uint64_t i = 0; i < rank; i++)
            if (!mw__mul_size(size, (size_t)shape[i], &size))
                size = 0;
        s->tensor_desc_dtype_release(&dtype);
    }
    s->tensor_desc_release(&desc);
    return size;
}

size_t mw__dispatch_port_bytes(const mw__dispatch *d, size_t port)
{
    return port < d->port_count ? wanted_size(&d->symbols, d->ports[port].port) : 0;
}

const mw__device_buffer *mw__dispatch_buffer(const mw__dispatch *d, size_t port) { return &d->ports[port].buffer; }

const char *mw__dispatch_summary(const mw__dispatch *d)
{
    const char *summary = NULL;
    void *function = d->chain != NULL ? d->chain->functions[0].compiled->function : d->function;
    if (d->symbols.mw_program_function_get_summary == NULL ||
        (int32_t)d->symbols.mw_program_function_get_summary(function, &summary) != E5RT_OK)
        return NULL;
    return summary;
}

/* ---- release ---- */

static void release_ports(mw__dispatch *d)
{
    for (size_t i = 0; i < d->port_count; i++) {
        mw__dispatch_port_release(&d->symbols, &d->ports[i]);
        mw__free(d->allocator, d->ports[i].name);
    }
    mw__free(d->allocator, d->ports);
}

void mw__dispatch_destroy(mw__dispatch *d)
{
    if (d == NULL)
        return;
    const mw__symbols *s = &d->symbols;
    if (d->stream != NULL)
        s->execution_stream_release(&d->stream);
    mw__chain_release(d);
    release_ports(d);
    mw__dispatch_stream_operation_release(s, &d->operation);
    if (d->function != NULL)
        s->program_function_release(&d->function);
    if (d->library != NULL)
        s->program_library_release(&d->library);
    mw__free(d->allocator, d);
}
