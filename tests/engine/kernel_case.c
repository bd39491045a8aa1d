#include "kernel_case.h"

#include "support/check.h"

static bool feed(run_program *r, const kernel_port *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *data = run_bind(r, false, in[i].name, in[i].size);
        if (data == NULL)
            return false;
        memcpy(data, in[i].data, in[i].size);
    }
    return true;
}

bool kernel_run(const char *text, uint64_t threads, const kernel_port *in, size_t in_count, const kernel_port *out,
                size_t out_count)
{
    run_set("MW_ENGINE_WAKE", "0");
    run_program r;
    void *results[RUN_PORTS] = {NULL};
    if (!run_open(&r, text, E5RT_CPU, threads))
        return false;
    bool good = feed(&r, in, in_count);
    for (size_t i = 0; good && i < out_count; i++) {
        results[i] = run_bind(&r, true, out[i].name, out[i].size);
        good = results[i] != NULL;
    }
    good = good && run_encode(&r) && run_execute(&r);
    for (size_t i = 0; good && i < out_count; i++)
        memcpy(out[i].data, results[i], out[i].size);
    run_close(&r);
    return good;
}

bool kernel_run_one(const char *text, uint64_t threads, const void *x, size_t x_size, void *y, size_t y_size)
{
    return kernel_run(text, threads, &(kernel_port){"x", (void *)(uintptr_t)x, x_size}, 1,
                      &(kernel_port){"y", y, y_size}, 1);
}

const char *kernel_text(char *buffer, size_t size, const char *parameters, const char *body, const char *output)
{
    snprintf(buffer, size,
             "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
             "    func main<ios18>(%s) {\n            %s\n    } -> (%s);\n}\n",
             parameters, body, output);
    return buffer;
}

float kernel_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(*seed >> 8) / 8388608.0f - 1.0f;
}
