/* Writes down what every program computes: linked into a program with --wrap for the functions below, it hashes the
 * bytes of all output ports after each execute, and appends to the file MW_RECORD, for each operation that ends,
 *
 *     bits <runs> <hash over all runs>
 *
 * and, for each plan that was not there before in this process, its steps and memory. See ../same_bits.sh. */
#include <e5rt/e5rt.h>

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#ifndef SHARES
#define SHARES partitions /* "lanes" in headers of a time */
#endif

typedef struct binding {
    const void *data;
    uint64_t size;
} binding;

typedef struct operation {
    void *handle;
    binding *outputs;
    size_t output_count;
    uint64_t runs, hash;
    UT_hash_handle hh;
} operation;

typedef struct port {
    void *handle, *operation;
    size_t index; /* of the operation's outputs */
    UT_hash_handle hh;
} port;

typedef struct stream {
    void *handle;
    void **operations;
    size_t count;
    UT_hash_handle hh;
} stream;

typedef struct seen {
    uint64_t hash;
    UT_hash_handle hh;
} seen;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static operation *operations;
static port *ports;
static stream *streams;
static seen *plans;

/* ---- bytes ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t word = 0;
    for (; size >= sizeof word; size -= sizeof word, bytes += sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, bytes, size);
    return mix(mix(hash, word), size);
}

static void append(const char *text, size_t size)
{
    const char *path = getenv("MW_RECORD");
    const int file = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : -1;
    if (file < 0)
        return;
    if (write(file, text, size) < 0)
        fprintf(stderr, "record: cannot write\n");
    close(file);
}

/* ---- plans ---- */

static void print_access(FILE *out, const char *word, const e5rt_mw_access *access, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        fprintf(out, " %s%" PRIu64 ":%" PRIu64, word, access[i].buffer, access[i].size);
}

/* Everything but flops and times. */
static void print_plan(FILE *out, const e5rt_mw_plan *plan)
{
    fprintf(out, "plan lanes %" PRIu64 " phases %" PRIu64 " team %" PRIu64 " memory %" PRIu64 " scratch %" PRIu64 "\n",
            plan->SHARES, plan->phase_count, plan->team, plan->intermediate_size, plan->scratch_size);
    for (uint64_t i = 0; i < plan->step_count; i++) {
        const e5rt_mw_step *s = &plan->steps[i];
        fprintf(out, "step %s phase %" PRIu64 " lanes %" PRIu64 " units %" PRIu64, s->label, s->phase, s->SHARES,
                s->units);
        print_access(out, "r", s->reads, s->read_count);
        print_access(out, "w", s->writes, s->write_count);
        for (uint64_t k = 0; k < s->operation_count; k++)
            fprintf(out, " %s", s->operations[k].kind);
        fputc('\n', out);
    }
    for (uint64_t i = 0; i < plan->buffer_count; i++) {
        const e5rt_mw_buffer *b = &plan->buffers[i];
        fprintf(out, "buffer %d %" PRIu64 "@%" PRIu64 " memory %" PRIu64 "\n", (int)b->kind, b->size, b->offset,
                b->memory);
    }
}

static bool is_new(uint64_t hash)
{
    seen *found;
    HASH_FIND(hh, plans, &hash, sizeof hash, found);
    if (found != NULL)
        return false;
    found = calloc(1, sizeof *found);
    found->hash = hash;
    HASH_ADD(hh, plans, hash, sizeof hash, found);
    return true;
}

static void record_plan(void *handle)
{
    void *plan = NULL;
    const e5rt_mw_plan *data = NULL;
    char *text = NULL;
    size_t size = 0;
    if (e5rt_mw_plan_create(&plan, handle) != 0)
        return;
    if (e5rt_mw_plan_get_data(plan, &data) == 0) {
        FILE *out = open_memstream(&text, &size);
        print_plan(out, data);
        fclose(out);
        if (is_new(hash_bytes(0, text, size)))
            append(text, size);
        free(text);
    }
    e5rt_mw_plan_release(&plan);
}

/* ---- operations ---- */

static operation *find_operation(void *handle)
{
    operation *found;
    HASH_FIND_PTR(operations, &handle, found);
    return found;
}

static void record_operation(operation *o)
{
    char line[80];
    if (o->runs > 0)
        append(line, (size_t)snprintf(line, sizeof line, "bits %" PRIu64 " %016" PRIx64 "\n", o->runs, o->hash));
}

static void forget_operation(operation *o)
{
    record_operation(o);
    HASH_DEL(operations, o);
    free(o->outputs);
    free(o);
}

__attribute__((destructor)) static void record_rest(void)
{
    for (operation *o = operations; o != NULL; o = o->hh.next)
        record_operation(o);
}

/* What the parent has run is the parent's to record. */
static void forget_parent(void)
{
    pthread_mutex_init(&mutex, NULL);
    for (operation *o = operations; o != NULL; o = o->hh.next)
        o->runs = 0;
}

__attribute__((constructor)) static void prepare(void) { pthread_atfork(NULL, NULL, forget_parent); }

/* ---- the functions in between ---- */

#define WRAP(name, ...)                                                                                                \
    e5rt_error_code __real_##name(__VA_ARGS__);                                                                        \
    e5rt_error_code __wrap_##name(__VA_ARGS__);                                                                        \
    e5rt_error_code __wrap_##name(__VA_ARGS__)

WRAP(e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options, void **out, void *options)
{
    const e5rt_error_code code =
        __real_e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options(out, options);
    pthread_mutex_lock(&mutex);
    if (code == 0) {
        operation *o = calloc(1, sizeof *o);
        o->handle = *out;
        HASH_ADD_PTR(operations, handle, o);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

WRAP(e5rt_execution_stream_operation_release, void **handle)
{
    pthread_mutex_lock(&mutex);
    operation *o = handle != NULL ? find_operation(*handle) : NULL;
    if (o != NULL)
        forget_operation(o);
    pthread_mutex_unlock(&mutex);
    return __real_e5rt_execution_stream_operation_release(handle);
}

WRAP(e5rt_execution_stream_operation_retain_output_port, void *handle, const char *name, void **out)
{
    const e5rt_error_code code = __real_e5rt_execution_stream_operation_retain_output_port(handle, name, out);
    pthread_mutex_lock(&mutex);
    operation *o = find_operation(handle);
    if (code == 0 && o != NULL) {
        port *p = calloc(1, sizeof *p);
        *p = (port){.handle = *out, .operation = handle, .index = o->output_count};
        o->outputs = realloc(o->outputs, ++o->output_count * sizeof *o->outputs);
        o->outputs[p->index] = (binding){0};
        HASH_ADD_PTR(ports, handle, p);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

WRAP(e5rt_io_port_release, void **handle)
{
    pthread_mutex_lock(&mutex);
    port *p = NULL;
    if (handle != NULL)
        HASH_FIND_PTR(ports, handle, p);
    if (p != NULL)
        HASH_DEL(ports, p);
    free(p);
    pthread_mutex_unlock(&mutex);
    return __real_e5rt_io_port_release(handle);
}

WRAP(e5rt_io_port_bind_buffer_object, void *handle, void *buffer)
{
    const e5rt_error_code code = __real_e5rt_io_port_bind_buffer_object(handle, buffer);
    pthread_mutex_lock(&mutex);
    port *p;
    HASH_FIND_PTR(ports, &handle, p);
    operation *o = p != NULL ? find_operation(p->operation) : NULL;
    void *data = NULL;
    uint64_t size = 0;
    if (code == 0 && o != NULL && e5rt_buffer_object_get_data_ptr(buffer, &data) == 0 &&
        e5rt_buffer_object_get_size(buffer, &size) == 0)
        o->outputs[p->index] = (binding){data, size};
    pthread_mutex_unlock(&mutex);
    return code;
}

WRAP(e5rt_execution_stream_encode_operation, void *handle, void *encoded)
{
    const e5rt_error_code code = __real_e5rt_execution_stream_encode_operation(handle, encoded);
    pthread_mutex_lock(&mutex);
    stream *s;
    HASH_FIND_PTR(streams, &handle, s);
    if (code == 0 && s == NULL) {
        s = calloc(1, sizeof *s);
        s->handle = handle;
        HASH_ADD_PTR(streams, handle, s);
    }
    if (code == 0) {
        s->operations = realloc(s->operations, (s->count + 1) * sizeof *s->operations);
        s->operations[s->count++] = encoded;
        record_plan(encoded);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static void forget_stream(void *handle)
{
    pthread_mutex_lock(&mutex);
    stream *s;
    HASH_FIND_PTR(streams, &handle, s);
    if (s != NULL) {
        HASH_DEL(streams, s);
        free(s->operations);
    }
    free(s);
    pthread_mutex_unlock(&mutex);
}

WRAP(e5rt_execution_stream_reset, void *handle)
{
    forget_stream(handle);
    return __real_e5rt_execution_stream_reset(handle);
}

WRAP(e5rt_execution_stream_release, void **handle)
{
    if (handle != NULL)
        forget_stream(*handle);
    return __real_e5rt_execution_stream_release(handle);
}

WRAP(e5rt_execution_stream_execute_sync, void *handle)
{
    const e5rt_error_code code = __real_e5rt_execution_stream_execute_sync(handle);
    pthread_mutex_lock(&mutex);
    stream *s;
    HASH_FIND_PTR(streams, &handle, s);
    for (size_t i = 0; code == 0 && s != NULL && i < s->count; i++) {
        operation *o = find_operation(s->operations[i]);
        if (o == NULL)
            continue;
        o->runs++;
        for (size_t k = 0; k < o->output_count; k++)
            o->hash = hash_bytes(o->hash, o->outputs[k].data, o->outputs[k].size);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}
