/* What a dispatch executes, several times in one stream, run by one call. All times share the buffers of the dispatch,
 * but for the ports that each must have for itself. */
#include "runtime/dispatch/dispatch_core.h"

struct mw__series {
    const mw__dispatch *source;
    mw__calls calls;
    mw__device_buffer *buffers; /* [count, ports of the source] */
    bool *own;                  /* [ports of the source] */
    size_t count;
    void *stream;
    bool encoded;
};

static mw_status add_call(mw__series *series, size_t index, const mw__device_buffer *const *bound, mw_error *err)
{
    const mw__dispatch *d = series->source;
    mw__device_buffer *mine = series->buffers + index * d->port_count;
    for (size_t i = 0; i < d->port_count; i++)
        if (!series->own[i])
            mine[i] = *bound[i];
        else
            MW_TRY(mw__dispatch_buffer_alloc(&d->symbols, d->ports[i].buffer.size, &mine[i], err));
    return mw__calls_add(d, mine, &series->calls, err);
}

static mw_status fill_series(mw__series *series, const mw__device_buffer *const *bound, mw_error *err)
{
    const mw__dispatch *d = series->source;
    series->own = mw__alloc(d->allocator, d->port_count, sizeof *series->own, err);
    series->buffers = mw__alloc(d->allocator, series->count * d->port_count, sizeof *series->buffers, err);
    if (series->own == NULL || series->buffers == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < d->port_count; i++)
        series->own[i] = bound[i] == NULL;
    MW_TRY(mw__calls_reserve(d, series->count, &series->calls, err));
    for (size_t i = 0; i < series->count; i++)
        MW_TRY(add_call(series, i, bound, err));
    return MW__E5RT(&d->symbols, execution_stream_create, &series->stream);
}

mw__series *mw__series_create(const mw__dispatch *source, size_t count, const mw__device_buffer *const *bound,
                              mw_error *err)
{
    mw__series *series = mw__alloc(source->allocator, 1, sizeof *series, err);
    if (series == NULL)
        return NULL;
    series->source = source;
    series->count = count;
    if (fill_series(series, bound, err) == MW_OK)
        return series;
    mw__series_destroy(series);
    return NULL;
}

static void release_buffers(mw__series *series)
{
    const mw__dispatch *d = series->source;
    for (size_t i = 0; series->buffers != NULL && series->own != NULL && i < series->count * d->port_count; i++)
        if (series->own[i % d->port_count])
            mw__dispatch_buffer_release(&d->symbols, &series->buffers[i]);
    mw__free(d->allocator, series->buffers);
    mw__free(d->allocator, series->own);
}

void mw__series_destroy(mw__series *series)
{
    if (series == NULL)
        return;
    const mw__dispatch *d = series->source;
    if (series->stream != NULL)
        d->symbols.execution_stream_release(&series->stream);
    mw__calls_release(d, &series->calls);
    release_buffers(series);
    mw__free(d->allocator, series);
}

mw_status mw__series_execute(mw__series *series, mw_error *err)
{
    const mw__symbols *s = &series->source->symbols;
    if (!series->encoded)
        MW_TRY(mw__calls_encode(s, &series->calls, series->stream, err));
    series->encoded = true;
    return MW__E5RT(s, execution_stream_execute_sync, series->stream);
}

void *mw__series_data(const mw__series *series, size_t index, size_t port)
{
    return series->buffers[index * series->source->port_count + port].data;
}
