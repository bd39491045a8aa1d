/* Several operations of one compiled function in one stream, run by one call. They share the buffers of the dispatch
 * that they are made of, but for the ports that each must have for itself. */
#include "runtime/dispatch_core.h"

struct mw__series {
    const mw__dispatch *source;
    mw__stream_operation *operations;
    mw__port_binding *ports; /* [count, ports of the source] */
    size_t count;
    void *stream;
    bool encoded;
};

static mw_status add_operation(mw__series *series, size_t index, const bool *own, mw_error *err)
{
    const mw__dispatch *d = series->source;
    MW_TRY(mw__stream_operation_make(d, "main", &series->operations[index], err));
    for (size_t i = 0; i < d->port_count; i++) {
        const mw__port_binding *port = &d->ports[i];
        mw__port_binding *mine = &series->ports[index * d->port_count + i];
        *mine = (mw__port_binding){.name = port->name, .is_output = port->is_output};
        MW_TRY(mw__port_bind(&d->symbols, series->operations[index].object, mine, port->buffer.size,
                             own[i] ? NULL : &port->buffer, err));
    }
    return MW_OK;
}

static mw_status fill(mw__series *series, const bool *own, mw_error *err)
{
    const mw__dispatch *d = series->source;
    series->operations = mw__alloc(d->allocator, series->count, sizeof *series->operations, err);
    series->ports = mw__alloc(d->allocator, series->count * d->port_count, sizeof *series->ports, err);
    if (series->operations == NULL || series->ports == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < series->count; i++)
        MW_TRY(add_operation(series, i, own, err));
    return MW__E5RT(&d->symbols, execution_stream_create, &series->stream);
}

mw__series *mw__series_create(const mw__dispatch *source, size_t count, const bool *own, mw_error *err)
{
    mw__series *series = mw__alloc(source->allocator, 1, sizeof *series, err);
    if (series == NULL)
        return NULL;
    series->source = source;
    series->count = count;
    if (fill(series, own, err) == MW_OK)
        return series;
    mw__series_destroy(series);
    return NULL;
}

void mw__series_destroy(mw__series *series)
{
    if (series == NULL)
        return;
    const mw__dispatch *d = series->source;
    if (series->stream != NULL)
        d->symbols.execution_stream_release(&series->stream);
    for (size_t i = 0; series->ports != NULL && i < series->count * d->port_count; i++)
        mw__port_release(&d->symbols, &series->ports[i]);
    for (size_t i = 0; series->operations != NULL && i < series->count; i++)
        mw__stream_operation_release(&d->symbols, &series->operations[i]);
    mw__free(d->allocator, series->ports);
    mw__free(d->allocator, series->operations);
    mw__free(d->allocator, series);
}

mw_status mw__series_execute(mw__series *series, mw_error *err)
{
    const mw__symbols *s = &series->source->symbols;
    for (size_t i = 0; !series->encoded && i < series->count; i++)
        MW_TRY(MW__E5RT(s, execution_stream_encode_operation, series->stream, series->operations[i].object));
    series->encoded = true;
    return MW__E5RT(s, execution_stream_execute_sync, series->stream);
}

void *mw__series_data(const mw__series *series, size_t index, size_t port)
{
    return series->ports[index * series->source->port_count + port].buffer.data;
}
