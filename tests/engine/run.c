/* The shared harness of run.h. */
#include "run.h"
#include "base/file/file.h"
#include "support/check.h"

#include <millwright/mil.h>

#include <stdlib.h>

static _Thread_local char message[800];

const char *run_message(void) { return message; }

static e5rt_error_code keep_message(e5rt_error_code code)
{
    if (code != 0)
        snprintf(message, sizeof message, "%s", e5rt_get_last_error_message());
    return code;
}

static bool good(e5rt_error_code code, const char *what, const char *name)
{
    return check_note(code == 0, __FILE__, __LINE__, "%s \"%s\" failed with %lld: %s", what, name, (long long)code,
                      e5rt_get_last_error_message());
}

/* ---- variables ---- */

enum { VARIABLES = 8 };

static struct {
    const char *name, *value;
} variables[VARIABLES];

void run_set(const char *name, const char *value)
{
    int at = 0;
    while (at + 1 < VARIABLES && variables[at].name != NULL && strcmp(variables[at].name, name) != 0)
        at++;
    variables[at].name = name;
    variables[at].value = value != NULL ? value : "";
}

static e5rt_error_code make_compiler(void **out)
{
    void *config = NULL;
    e5rt_error_code code = keep_message(e5rt_e5_compiler_config_options_create(&config));
    for (int i = 0; code == 0 && i < VARIABLES && variables[i].name != NULL; i++)
        code = keep_message(
            e5rt_mw_e5_compiler_config_options_set_variable(config, variables[i].name, variables[i].value));
    if (code == 0)
        code = keep_message(e5rt_e5_compiler_create_with_config(out, config));
    if (config != NULL)
        e5rt_e5_compiler_config_options_release(&config);
    return code;
}

mw_status run_config(mw__config *out, mw_error *err)
{
    mw_status status = MW_OK;
    mw__config_init(out);
    for (int i = 0; status == MW_OK && i < VARIABLES && variables[i].name != NULL; i++)
        status = mw__config_set(out, variables[i].name, variables[i].value, err);
    return status == MW_OK ? mw__config_read_environment(out, err) : status;
}

mw__config config_here(void)
{
    mw__config config;
    run_config(&config, NULL);
    return config;
}

mw__level level_here(void) { return config_here().level; }

/* ---- compiling ---- */

static e5rt_error_code compile_file(const char *path, uint64_t mask, uint64_t threads, void **out_library)
{
    void *compiler = NULL, *options = NULL;
    e5rt_error_code code = make_compiler(&compiler);
    if (code == 0)
        code = keep_message(e5rt_e5_compiler_options_create(&options));
    if (code == 0)
        code = keep_message(e5rt_e5_compiler_options_set_compute_device_types_mask(options, mask));
    if (code == 0)
        code = keep_message(e5rt_mw_e5_compiler_options_set_threads(options, threads));
    if (code == 0)
        code = keep_message(e5rt_e5_compiler_compile(compiler, path, options, out_library));
    if (options != NULL)
        e5rt_e5_compiler_options_release(&options);
    if (compiler != NULL)
        e5rt_e5_compiler_release(&compiler);
    return code;
}

e5rt_error_code run_compile(const char *text, uint64_t mask, uint64_t threads, void **out_library)
{
    mw_error err = {0};
    char *folder = NULL, path[512];
    *out_library = NULL;
    if (!check_note(mw__file_make_private_folder(NULL, 0, &folder, &err) == MW_OK, __FILE__, __LINE__, "%s",
                    err.message))
        return -1;
    snprintf(path, sizeof path, "%s/model.mil", folder);
    e5rt_error_code code = -1;
    if (check_note(mw__file_write(NULL, path, text, strlen(text), false, &err) == MW_OK, __FILE__, __LINE__, "%s",
                   err.message))
        code = compile_file(path, mask, threads, out_library);
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
    return code;
}

static e5rt_error_code make_operation(run_program *r)
{
    e5rt_error_code code = e5rt_program_library_retain_program_function(r->library, "main", &r->function);
    if (code == 0)
        code = e5rt_precompiled_compute_op_create_options_create_with_program_function(&r->options, r->function);
    if (code == 0)
        code = e5rt_precompiled_compute_op_create_options_set_operation_name(r->options, "main");
    if (code == 0)
        code = e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options(&r->operation,
                                                                                                 r->options);
    if (code == 0)
        code = e5rt_execution_stream_create(&r->stream);
    return keep_message(code);
}

e5rt_error_code run_try_open(run_program *r, const char *text, uint64_t mask, uint64_t threads)
{
    *r = (run_program){0};
    e5rt_error_code code = run_compile(text, mask, threads, &r->library);
    if (code == 0)
        code = make_operation(r);
    if (code != 0)
        run_close(r);
    return code;
}

bool run_open(run_program *r, const char *text, uint64_t mask, uint64_t threads)
{
    const e5rt_error_code code = run_try_open(r, text, mask, threads);
    return check_note(code == 0, __FILE__, __LINE__, "compile failed with %lld: %s", (long long)code, message);
}

bool run_adopt(run_program *r, void *library)
{
    *r = (run_program){.library = library};
    const e5rt_error_code code = make_operation(r);
    if (code != 0)
        run_close(r);
    return check_note(code == 0, __FILE__, __LINE__, "operation failed with %lld: %s", (long long)code, message);
}

void run_close(run_program *r)
{
    if (r->stream != NULL)
        e5rt_execution_stream_release(&r->stream);
    for (int i = 0; i < r->port_count; i++) {
        if (r->ports[i].buffer != NULL)
            e5rt_buffer_object_release(&r->ports[i].buffer);
        if (r->ports[i].port != NULL)
            e5rt_io_port_release(&r->ports[i].port);
    }
    if (r->operation != NULL)
        e5rt_execution_stream_operation_release(&r->operation);
    if (r->options != NULL)
        e5rt_precompiled_compute_op_create_options_release(&r->options);
    if (r->function != NULL)
        e5rt_program_function_release(&r->function);
    if (r->library != NULL)
        e5rt_program_library_release(&r->library);
    *r = (run_program){0};
}

static run_port *add_port(run_program *r, bool output, const char *name)
{
    if (!check_note(r->port_count < RUN_PORTS, __FILE__, __LINE__, "too many ports"))
        return NULL;
    run_port *port = &r->ports[r->port_count++];
    *port = (run_port){.output = output};
    snprintf(port->name, sizeof port->name, "%s", name);
    const e5rt_error_code code =
        output ? e5rt_execution_stream_operation_retain_output_port(r->operation, name, &port->port)
               : e5rt_execution_stream_operation_retain_input_port(r->operation, name, &port->port);
    return good(code, "retain port", name) ? port : NULL;
}

void *run_bind(run_program *r, bool output, const char *name, size_t size)
{
    run_port *port = add_port(r, output, name);
    if (port == NULL || !good(e5rt_buffer_object_alloc(&port->buffer, size, 0), "buffer for", name) ||
        !good(e5rt_buffer_object_get_data_ptr(port->buffer, &port->data), "data of", name) ||
        !good(e5rt_io_port_bind_buffer_object(port->port, port->buffer), "bind", name))
        return NULL;
    port->size = size;
    return port->data;
}

void *run_share(run_program *r, const char *output, const char *input)
{
    run_port *port = add_port(r, true, output);
    for (int i = 0; port != NULL && i < r->port_count; i++) {
        const run_port *source = &r->ports[i];
        if (source->output || source->buffer == NULL || strcmp(source->name, input) != 0)
            continue;
        port->data = source->data;
        port->size = source->size;
        return good(e5rt_io_port_bind_buffer_object(port->port, source->buffer), "share", output) ? port->data : NULL;
    }
    return NULL;
}

bool run_bind_data(run_program *r, bool output, const char *name, void *data, size_t size)
{
    run_port *port = add_port(r, output, name);
    if (port == NULL)
        return false;
    port->data = data;
    port->size = size;
    return good(e5rt_buffer_object_create_from_data_pointer(&port->buffer, data, size), "wrap", name) &&
           good(e5rt_io_port_bind_buffer_object(port->port, port->buffer), "bind", name);
}

bool run_encode(run_program *r)
{
    return good(e5rt_execution_stream_encode_operation(r->stream, r->operation), "encode", "main");
}

bool run_execute(run_program *r) { return good(e5rt_execution_stream_execute_sync(r->stream), "execute", "main"); }

static mw__library *compile_folder(const char *folder, uint64_t mask, uint64_t threads, mw_error *err)
{
    mw__config config;
    if (run_config(&config, err) != MW_OK)
        return NULL;
    return mw__library_compile(folder, &(mw__compile_options){.config = &config, .mask = mask, .threads = threads},
                               err);
}

mw__library *run_library(const char *text, uint64_t threads, mw_error *err)
{
    return run_library_for(E5RT_CPU, text, threads, err);
}

mw__library *run_library_for(uint64_t mask, const char *text, uint64_t threads, mw_error *err)
{
    char *folder = NULL, path[512];
    mw__library *library = NULL;
    if (mw__file_make_private_folder(NULL, 0, &folder, err) != MW_OK)
        return NULL;
    snprintf(path, sizeof path, "%s/model.mil", folder);
    if (mw__file_write(NULL, path, text, strlen(text), false, err) == MW_OK)
        library = compile_folder(folder, mask, threads, err);
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
    return library;
}

mw__library *run_library_of(const mw_graph *graph, uint64_t threads, mw_error *err)
{
    char *folder = NULL, weights[512];
    if (mw__file_make_private_folder(NULL, 0, &folder, err) != MW_OK)
        return NULL;
    const bool written = mw_graph_write(graph, folder, NULL, err) == MW_OK;
    mw__library *library = written ? compile_folder(folder, E5RT_CPU, threads, err) : NULL;
    snprintf(weights, sizeof weights, "%s/weights", folder);
    mw__file_remove_folder(weights);
    mw__file_remove_folder(folder);
    mw__free(NULL, folder);
    return library;
}
