#include "cache_case.h"
#include "engine/cache/shared.h"
#include "engine/run.h"
#include "support/check.h"
#include "support/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

const char cache_text[] =
    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
    "    func main<ios18>(tensor<fp16, [8]> x) {\n"
    "            tensor<fp16, [8]> w = const()[name = string(\"w\"), val = tensor<fp16, [8]>(BLOBFILE(path = "
    "string(\"@model_path/weights/weight.bin\"), offset = uint64(64)))];\n"
    "            tensor<fp16, [8]> y = add(x = x, y = w)[name = string(\"y\")];\n"
    "        } -> (y);\n}\n";

/* ---- the model ---- */

static void put_number(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static void put_weights(const char *folder, uint16_t weight)
{
    unsigned char file[144] = {0};
    char path[512];
    put_number(file, 1, 4);
    put_number(file + 4, 2, 4);
    put_number(file + 64, 0xdeadbeef, 4);
    put_number(file + 68, 1, 4);
    put_number(file + 72, 16, 8);
    put_number(file + 80, 128, 8);
    for (int i = 0; i < 8; i++)
        put_number(file + 128 + 2 * i, weight, 2);
    snprintf(path, sizeof path, "%s/weights", folder);
    CHECK(mkdir(path, 0777) == 0 || errno == EEXIST);
    snprintf(path, sizeof path, "%s/weights/weight.bin", folder);
    FILE *out = fopen(path, "wb");
    CHECK(out != NULL && fwrite(file, 1, sizeof file, out) == sizeof file);
    if (out != NULL)
        fclose(out);
}

void cache_put_model(const char *folder, const char *text, uint16_t weight)
{
    char path[512];
    CHECK(mkdir(folder, 0777) == 0 || errno == EEXIST);
    put_weights(folder, weight);
    snprintf(path, sizeof path, "%s/model.mil", folder);
    folder_put(path, text != NULL ? text : cache_text);
}

/* ---- compiling ---- */

static _Thread_local char last_message[800];

const char *cache_message(void) { return last_message; }

static e5rt_error_code make_compiler(const cache_case *c, void **out)
{
    void *config = NULL;
    e5rt_error_code code = e5rt_e5_compiler_config_options_create(&config);
    if (code == 0 && c->location != NULL)
        code = e5rt_e5_compiler_config_options_set_cache_bundle_location(config, c->location);
    if (code == 0 && c->variable != NULL)
        code = e5rt_mw_e5_compiler_config_options_set_variable(config, c->variable, c->value);
    if (code == 0)
        code = e5rt_e5_compiler_create_with_config(out, config);
    if (config != NULL)
        e5rt_e5_compiler_config_options_release(&config);
    return code;
}

static e5rt_error_code make_options(const cache_case *c, void **out)
{
    e5rt_error_code code = e5rt_e5_compiler_options_create(out);
    if (code == 0)
        code = e5rt_e5_compiler_options_set_compute_device_types_mask(*out, c->mask != 0 ? c->mask : E5RT_CPU);
    if (code == 0)
        code = e5rt_mw_e5_compiler_options_set_threads(*out, c->threads != 0 ? c->threads : 1);
    if (code == 0 && c->segmenter != NULL)
        code = e5rt_e5_compiler_options_set_segmenter(*out, c->segmenter);
    if (code == 0 && c->custom != NULL)
        code = e5rt_e5_compiler_options_set_custom_ane_compiler_options(*out, c->custom);
    if (code == 0)
        code = e5rt_e5_compiler_options_set_enable_profiling(*out, c->profiling);
    if (code == 0)
        code = e5rt_e5_compiler_options_set_force_recompilation(*out, c->force_new);
    if (code == 0)
        code = e5rt_e5_compiler_options_set_force_fetch_from_cache(*out, c->force_fetch);
    if (code == 0)
        code = e5rt_mw_e5_compiler_options_set_private(*out, c->owned);
    if (code == 0 && c->entry_point != NULL)
        code = e5rt_e5_compiler_options_set_mil_entry_points(*out, &c->entry_point, 1);
    return code;
}

/* `required`: asks only. The message of a failure stays the last one. */
static e5rt_error_code use(const cache_case *c, void **out_library, e5rt_bool *required)
{
    void *compiler = NULL, *options = NULL;
    e5rt_error_code code = make_compiler(c, &compiler);
    if (code == 0)
        code = make_options(c, &options);
    if (code == 0)
        code = required != NULL ? e5rt_e5_compiler_is_new_compile_required(compiler, c->path, options, required)
                                : e5rt_e5_compiler_compile(compiler, c->path, options, out_library);
    snprintf(last_message, sizeof last_message, "%s", e5rt_get_last_error_message());
    if (options != NULL)
        e5rt_e5_compiler_options_release(&options);
    if (compiler != NULL)
        e5rt_e5_compiler_release(&compiler);
    return code;
}

e5rt_error_code cache_compile(const cache_case *c, void **out_library)
{
    *out_library = NULL;
    return use(c, out_library, NULL);
}

int cache_required(const cache_case *c)
{
    e5rt_bool required = 0;
    const e5rt_error_code code = use(c, NULL, &required);
    check_note(code == 0, __FILE__, __LINE__, "is_new_compile_required: %s", cache_message());
    return code == 0 ? required != 0 : -1;
}

bool cache_fill(const cache_case *c, int line)
{
    void *library = NULL;
    const e5rt_error_code code = cache_compile(c, &library);
    if (library != NULL)
        e5rt_program_library_release(&library);
    return check_note(code == 0, __FILE__, line, "compile: %s", cache_message());
}

/* ---- running ---- */

uint16_t cache_run(void *library)
{
    run_program r;
    uint16_t result = 0;
    if (!run_adopt(&r, library))
        return 0;
    uint16_t *x = run_bind(&r, false, "x", 16), *y = run_bind(&r, true, "y", 16);
    for (int i = 0; x != NULL && i < 8; i++)
        x[i] = HALF_ONE;
    if (x != NULL && y != NULL && run_encode(&r) && run_execute(&r))
        result = y[7];
    run_close(&r);
    return result;
}

uint16_t cache_result(const cache_case *c)
{
    void *library = NULL;
    const e5rt_error_code code = cache_compile(c, &library);
    if (!check_note(code == 0, __FILE__, __LINE__, "compile: %s", cache_message()))
        return 0;
    return cache_run(library);
}

/* ---- what is stored ---- */

void cache_bundle(const cache_case *c, char *out, size_t size)
{
    void *library = NULL;
    const char *path = "";
    out[0] = '\0';
    const e5rt_error_code code = cache_compile(c, &library);
    if (!check_note(code == 0, __FILE__, __LINE__, "compile: %s", cache_message()))
        return;
    check_note(e5rt_program_library_get_e5_bundle_path(library, &path) == 0, __FILE__, __LINE__, "%s",
               e5rt_get_last_error_message());
    snprintf(out, size, "%s", path);
    e5rt_program_library_release(&library);
}

int cache_entries(const char *location)
{
    int count = 0;
    DIR *opened = opendir(location);
    for (const struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", location, entry->d_name);
        if (strncmp(entry->d_name, "millwright-", 11) == 0)
            count += folder_count(path);
    }
    if (opened != NULL)
        closedir(opened);
    return count;
}

void cache_forget(void) { mw__cache_shared_drop(); }
