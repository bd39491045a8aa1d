/* Operations of several functions in one stream, which hand on values in buffers of their own: to those above it one
 * dispatch with the ports of the whole. */
#include "runtime/dispatch/dispatch_core.h"

#include <stdio.h>
#include <string.h>

/* ---- calls ---- */

mw_status mw__calls_reserve(const mw__dispatch *d, size_t times, mw__calls *calls, mw_error *err)
{
    const mw__chain *chain = d->chain;
    size_t ports = chain != NULL ? 0 : d->port_count;
    for (size_t c = 0; chain != NULL && c < chain->call_count; c++) {
        const mw__chain_function *function = &chain->functions[chain->calls[c].function];
        ports += function->input_count + function->output_count;
    }
    calls->operations =
        mw__alloc(d->allocator, times * (chain != NULL ? chain->call_count : 1), sizeof *calls->operations, err);
    calls->ports = mw__alloc(d->allocator, times * ports, sizeof(void *), err);
    return calls->operations != NULL && calls->ports != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status bind(const mw__symbols *s, mw__calls *calls, const char *name, bool is_output,
                      const mw__device_buffer *buffer, mw_error *err)
{
    mw__dispatch_port_binding port = {.name = (char *)(uintptr_t)name, .is_output = is_output};
    void *operation = calls->operations[calls->operation_count - 1].object;
    const mw_status status = mw__dispatch_port_bind(s, operation, &port, buffer->size, buffer, err);
    calls->ports[calls->port_count++] = port.port; /* also of one that could not be bound, to be released */
    return status;
}

static mw_status add_call(const mw__dispatch *d, const mw__device_buffer *buffers, size_t index, mw__calls *calls,
                          mw_error *err)
{
    const mw__chain_call *call = &d->chain->calls[index];
    const mw__chain_function *function = &d->chain->functions[call->function];
    char name[40];
    snprintf(name, sizeof name, "segment_%zu", index);
    MW_TRY(mw__dispatch_stream_operation_make(function->compiled, name, &calls->operations[calls->operation_count++],
                                              err));
    for (size_t i = 0; i < function->input_count + function->output_count; i++) {
        const size_t place = call->places[i];
        const mw__device_buffer *buffer = place < d->port_count ? &buffers[place] : &d->between[place - d->port_count];
        MW_TRY(bind(&d->symbols, calls, function->ports[i], i >= function->input_count, buffer, err));
    }
    return MW_OK;
}

mw_status mw__calls_add(const mw__dispatch *d, const mw__device_buffer *buffers, mw__calls *calls, mw_error *err)
{
    for (size_t c = 0; d->chain != NULL && c < d->chain->call_count; c++)
        MW_TRY(add_call(d, buffers, c, calls, err));
    if (d->chain != NULL)
        return MW_OK;
    MW_TRY(mw__dispatch_stream_operation_make(d, "main", &calls->operations[calls->operation_count++], err));
    for (size_t i = 0; i < d->port_count; i++)
        MW_TRY(bind(&d->symbols, calls, d->ports[i].name, d->ports[i].is_output, &buffers[i], err));
    return MW_OK;
}

mw_status mw__calls_encode(const mw__symbols *s, const mw__calls *calls, void *stream, mw_error *err)
{
    for (size_t i = 0; i < calls->operation_count; i++)
        MW_TRY(MW__E5RT(s, execution_stream_encode_operation, stream, calls->operations[i].object));
    return MW_OK;
}

void mw__calls_release(const mw__dispatch *d, mw__calls *calls)
{
    for (size_t i = 0; i < calls->port_count; i++)
        if (calls->ports[i] != NULL)
            d->symbols.io_port_release(&calls->ports[i]);
    for (size_t i = 0; i < calls->operation_count; i++)
        mw__dispatch_stream_operation_release(&d->symbols, &calls->operations[i]);
    mw__free(d->allocator, calls->ports);
    mw__free(d->allocator, calls->operations);
    *calls = (mw__calls){0};
}

/* ---- the chain ---- */

mw_status mw__chain_finish(mw__dispatch *d, mw_error *err)
{
    const mw__chain *chain = d->chain;
    mw__device_buffer *ports = mw__alloc(d->allocator, d->port_count, sizeof *ports, err);
    d->between = mw__alloc(d->allocator, chain->between_count, sizeof *d->between, err);
    mw_status status = ports != NULL && d->between != NULL ? MW_OK : MW_ERROR_MEMORY;
    for (size_t i = 0; status == MW_OK && i < d->port_count; i++)
        ports[i] = d->ports[i].buffer;
    for (size_t i = 0; status == MW_OK && i < chain->between_count; i++) {
        status = mw__dispatch_buffer_alloc(&d->symbols, chain->between[i], &d->between[i], err);
        if (status == MW_OK && chain->contents[i] != NULL)
            memcpy(d->between[i].data, chain->contents[i], chain->between[i]);
    }
    if (status == MW_OK)
        status = mw__calls_reserve(d, 1, &d->calls, err);
    if (status == MW_OK)
        status = mw__calls_add(d, ports, &d->calls, err);
    if (status == MW_OK && chain->watched)
        status = mw__dispatch_watch_make(d, err);
    if (status == MW_OK)
        status = mw__calls_encode(&d->symbols, &d->calls, d->stream, err);
    d->encoded = status == MW_OK;
    mw__free(d->allocator, ports);
    return status;
}

void mw__chain_release(mw__dispatch *d)
{
    if (d->chain == NULL)
        return;
    mw__calls_release(d, &d->calls);
    mw__dispatch_watch_release(d);
    for (size_t i = 0; d->between != NULL && i < d->chain->between_count; i++)
        mw__dispatch_buffer_release(&d->symbols, &d->between[i]);
    mw__free(d->allocator, d->between);
    for (size_t i = 0; i < d->chain->function_count; i++)
        mw__dispatch_destroy(d->chain->functions[i].compiled);
}

mw__dispatch *mw__dispatch_create_chain(const mw__dispatch_options *options, const mw__chain *chain, mw_error *err)
{
    mw__dispatch *d = mw__alloc(options->allocator, 1, sizeof *d, err);
    if (d == NULL) {
        for (size_t i = 0; i < chain->function_count; i++)
            mw__dispatch_destroy(chain->functions[i].compiled);
        return NULL;
    }
    d->allocator = options->allocator;
    d->symbols = *options->symbols;
    d->chain = chain;
    d->ports = mw__alloc(d->allocator, options->port_count, sizeof *d->ports, err);
    if (d->ports != NULL) {
        d->port_capacity = options->port_count;
        return d;
    }
    mw__dispatch_destroy(d);
    return NULL;
}

const mw__chain *mw__dispatch_chain(const mw__dispatch *dispatch) { return dispatch->chain; }
