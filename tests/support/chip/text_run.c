/* MIL text through the C ABI of the dispatch layer. */
#include "text_run.h"

#include "base/number/fp16.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/setting.h"

#include <millwright/ane_e5rt.h>
#include <stdlib.h>

enum { TEXT = 1 << 14, PORTS = 8 };

static bool feed(ane_e5rt_program_t *program, const text_port *port)
{
    uint16_t *half = malloc((port->count + 1) * sizeof *half);
    for (size_t i = 0; half != NULL && i < port->count; i++)
        half[i] = mw__fp16_from_float(port->data[i]);
    const bool good = half != NULL && ane_e5rt_program_set_input_fp16(program, port->name, half, port->count) == 0;
    free(half);
    return good;
}

static bool execute(ane_e5rt_program_t *program, const text_port *inputs, size_t input_count, float *out, size_t count)
{
    uint16_t *half = malloc((count + 1) * sizeof *half);
    bool good = half != NULL;
    for (size_t i = 0; good && i < input_count; i++)
        good = feed(program, &inputs[i]);
    good = good && ane_e5rt_program_execute(program) == 0 &&
           ane_e5rt_program_get_output_fp16(program, "y", half, count) == 0;
    for (size_t i = 0; good && i < count; i++)
        out[i] = mw__fp16_to_float(half[i]);
    free(half);
    return good;
}

static bool compile_and_run(const char *folder, const text_port *inputs, size_t input_count, float *out, size_t count)
{
    char path[600];
    const char *names[PORTS], *const outputs[] = {"y"};
    size_t sizes[PORTS];
    const size_t bytes[] = {count * sizeof(uint16_t)};
    snprintf(path, sizeof path, "%s/model.mil", folder);
    for (size_t i = 0; i < input_count; i++)
        names[i] = inputs[i].name, sizes[i] = inputs[i].count * sizeof(uint16_t);
    ane_e5rt_program_t *program =
        ane_e5rt_program_compile(path, folder, 4, names, sizes, input_count, outputs, bytes, 1);
    const bool good = program != NULL && execute(program, inputs, input_count, out, count);
    check_note(good, __FILE__, __LINE__, "%s", good ? "" : ane_e5rt_last_error());
    ane_e5rt_program_release(program);
    return good;
}

bool text_run(const char *profile, const char *signature, const char *statements, const text_port *inputs,
              size_t input_count, float *out, size_t count)
{
    char folder[512];
    char *text = malloc(TEXT);
    bool good = text != NULL && input_count <= PORTS && folder_enter(folder);
    if (good) {
        snprintf(text, TEXT,
                 "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-component-MIL\", \"3520.4.1\"}, "
                 "{\"coremlc-version\", \"3520.5.1\"}})]\n{\nfunc main<ios18>(%s) {\n%s\n} -> (y);\n}\n",
                 signature, statements);
        folder_put("model.mil", text);
        setting_begin("MW_ENGINE_PROFILE", profile);
        good = compile_and_run(folder, inputs, input_count, out, count);
        setting_end("MW_ENGINE_PROFILE");
        folder_leave(folder);
    }
    free(text);
    return good;
}

float text_of_one(const char *profile, const char *expression, float x)
{
    char statement[256];
    float y = NAN;
    snprintf(statement, sizeof statement, "tensor<fp16, [1]> y = %s[name = string(\"y\")];", expression);
    text_run(profile, "tensor<fp16, [1]> x", statement, &(text_port){"x", &x, 1}, 1, &y, 1);
    return y;
}

float text_of_two(const char *profile, const char *expression, float x, float z)
{
    char statement[256];
    float y = NAN;
    snprintf(statement, sizeof statement, "tensor<fp16, [1]> y = %s[name = string(\"y\")];", expression);
    text_run(profile, "tensor<fp16, [1]> x, tensor<fp16, [1]> z", statement, (text_port[]){{"x", &x, 1}, {"z", &z, 1}},
             2, &y, 1);
    return y;
}
