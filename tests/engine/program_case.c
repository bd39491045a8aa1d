/* The numbers and outputs of program_case.h. */
#include "program_case.h"
#include "base/number/random.h"
#include "base/text/error.h"
#include "engine/core/kernel.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <stdlib.h>

mw_program *program_compile_plain(const mw_graph *graph, mw_device device, int threads, mw_error *err)
{
    setting_begin("MW_ENGINE_FUSE", "0");
    mw_program *plain = engine_compile(graph, device, threads, err);
    setting_end("MW_ENGINE_FUSE");
    return plain;
}

mw_conv_options program_conv(int64_t stride, int64_t dilation, int64_t groups)
{
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = MW_PAD_CUSTOM;
    options.groups = groups > 0 ? groups : 1;
    for (int i = 0; i < 3; i++) {
        options.stride[i] = stride > 0 ? stride : 1;
        options.dilation[i] = dilation > 0 ? dilation : 1;
    }
    return options;
}

float *program_draw(const program_numbers *numbers, mw_shape shape, uint64_t stream)
{
    const int64_t count = mw_shape_count(shape);
    float *data = malloc((size_t)count * sizeof *data);
    mw__random random = {.seed = numbers->seed, .stream = stream};
    for (int64_t i = 0; data != NULL && i < count; i++) {
        const float x = mw__random_uniform(&random), steps = numbers->steps;
        data[i] = steps > 0 ? floorf(2.0f * steps * x) / steps - 1.0f : 2.0f * x - 1.0f;
    }
    if (data != NULL && numbers->nan)
        data[count / 3] = NAN;
    return data;
}

static bool find_port(const mw_program *program, const char *name, bool output, mw_port *out)
{
    for (size_t i = 0; program != NULL && mw_program_port_at(program, i, out); i++)
        if (out->is_output == output && strcmp(out->name, name) == 0)
            return true;
    return false;
}

void program_feed(mw_program *program, const char *input, const program_numbers *numbers, uint64_t stream,
                  mw_error *err)
{
    mw_port port;
    if (!find_port(program, input, false, &port)) {
        mw__fail(err, MW_ERROR_STATE, "no input \"%s\"", input);
        return;
    }
    float *data = program_draw(numbers, port.shape, stream);
    if (data != NULL)
        mw_program_write(program, input, MW_F32, data, (size_t)mw_shape_count(port.shape), err);
    else
        mw__fail(err, MW_ERROR_MEMORY, "no numbers for \"%s\"", input);
    free(data);
}

static void read_output(mw_program *program, program_output *output, mw_error *err)
{
    mw_port port;
    const void *data = mw_program_view(program, output->name, err);
    if (data == NULL || !find_port(program, output->name, true, &port))
        return;
    output->dtype = port.dtype;
    output->count = (size_t)mw_shape_count(port.shape);
    output->size = output->count * mw__dtype_size(port.dtype);
    output->data = malloc(output->size);
    if (output->data != NULL)
        memcpy(output->data, data, output->size);
}

program_outputs program_outputs_read(mw_program *program, const char *const *names, int count, mw_error *err)
{
    program_outputs outputs = {.count = count};
    for (int i = 0; i < count; i++) {
        outputs.of[i].name = names[i];
        read_output(program, &outputs.of[i], err);
    }
    return outputs;
}

void program_outputs_deinit(program_outputs *outputs)
{
    for (int i = 0; i < outputs->count; i++)
        free(outputs->of[i].data);
    *outputs = (program_outputs){0};
}

void program_outputs_compare(const program_outputs *a, const program_outputs *b, int count, const char *what)
{
    for (int i = 0; i < count; i++) {
        const program_output *x = &a->of[i], *y = &b->of[i];
        const bool there = x->data != NULL && y->data != NULL && x->size == y->size;
        check_note(there && memcmp(x->data, y->data, x->size) == 0, __FILE__, __LINE__, "%s: %s differs", what,
                   x->name);
    }
}
