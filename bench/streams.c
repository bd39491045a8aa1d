/* What a call of an e5rt stream costs: a program of one addition to 16 numbers, run at once, submitted one after
 * another, and submitted and waited for. Medians of rounds, in ns.
 *
 *     streams [rounds] */
#include "bench.h"

#include <e5rt/e5rt.h>
#include <unistd.h>

enum { RUNS = 20000, WAITS = 2000 };

static const char text[] = "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n"
                           "    func main<ios18>(tensor<fp32, [16]> x) {\n"
                           "        tensor<fp32, [16]> y = add(x = x, y = fp32(1));\n"
                           "    } -> (y);\n}\n";

static void *stream, *event, *operation;

static void good(e5rt_error_code code)
{
    if (code == 0)
        return;
    fprintf(stderr, "%s\n", e5rt_get_last_error_message());
    exit(1);
}

static void bind(const char *name, bool output)
{
    void *port = NULL, *buffer = NULL;
    good(output ? e5rt_execution_stream_operation_retain_output_port(operation, name, &port)
                : e5rt_execution_stream_operation_retain_input_port(operation, name, &port));
    good(e5rt_buffer_object_alloc(&buffer, 64, 0));
    good(e5rt_io_port_bind_buffer_object(port, buffer));
    good(e5rt_buffer_object_release(&buffer));
    good(e5rt_io_port_release(&port));
}

static void compile(const char *path)
{
    void *compiler = NULL, *options = NULL, *library = NULL, *function = NULL, *create = NULL;
    good(e5rt_e5_compiler_create(&compiler));
    good(e5rt_e5_compiler_options_create(&options));
    good(e5rt_mw_e5_compiler_options_set_threads(options, 1));
    good(e5rt_e5_compiler_compile(compiler, path, options, &library));
    good(e5rt_program_library_retain_program_function(library, "main", &function));
    good(e5rt_precompiled_compute_op_create_options_create_with_program_function(&create, function));
    good(e5rt_execution_stream_operation_create_precompiled_compute_operation_with_options(&operation, create));
    bind("x", false);
    bind("y", true);
    good(e5rt_async_event_create(&event, "done", 0));
    good(e5rt_execution_stream_operation_bind_completion_event(operation, event));
    good(e5rt_execution_stream_create(&stream));
    good(e5rt_execution_stream_encode_operation(stream, operation));
    good(e5rt_precompiled_compute_op_create_options_release(&create));
    good(e5rt_program_function_release(&function));
    good(e5rt_program_library_release(&library));
    good(e5rt_e5_compiler_options_release(&options));
    good(e5rt_e5_compiler_release(&compiler));
}

static void run_at_once(int runs)
{
    for (int i = 0; i < runs; i++)
        good(e5rt_execution_stream_execute_sync(stream));
}

static void submit_and_drain(int runs)
{
    for (int i = 0; i < runs; i++)
        good(e5rt_execution_stream_async_submit(stream));
    good(e5rt_async_event_sync_wait(event));
}

static void nothing(void *user, e5rt_error_code status) { (void)user, (void)status; }

static void submit_with_completions(int runs)
{
    for (int i = 0; i < runs; i++)
        good(e5rt_mw_execution_stream_submit_async(stream, nothing, NULL));
    good(e5rt_async_event_sync_wait(event));
}

static void submit_and_wait(int runs)
{
    for (int i = 0; i < runs; i++) {
        good(e5rt_execution_stream_async_submit(stream));
        good(e5rt_async_event_sync_wait(event));
    }
}

static void measure(const char *metric, void (*work)(int runs), int runs, int rounds)
{
    double times[99];
    work(runs / 10);
    for (int i = 0; i < rounds; i++) {
        const double begin = bench_now();
        work(runs);
        times[i] = (bench_now() - begin) * 1e9 / runs;
    }
    bench_emit("streams", metric, bench_median(times, rounds));
}

int main(int argc, char **argv)
{
    int rounds = 15;
    char path[] = "streams_XXXXXX";
    if (argc > 1 && (!bench_count(argv[1], &rounds) || rounds > 99))
        return 2;
    const int file = mkstemp(path);
    if (file < 0 || write(file, text, sizeof text - 1) != (ssize_t)(sizeof text - 1))
        return 1;
    close(file);
    compile(path);
    unlink(path);
    measure("execute_ns", run_at_once, RUNS, rounds);
    measure("submit_ns", submit_and_drain, RUNS, rounds);
    measure("submit_with_completion_ns", submit_with_completions, RUNS, rounds);
    measure("submit_and_wait_ns", submit_and_wait, WAITS, rounds);
    return 0;
}
