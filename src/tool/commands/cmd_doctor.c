/* mw doctor: what is there, and whether it works. What may crash or hang runs in a process of its own. */
#include "tool/commands/commands.h"

#include <millwright/chip_all.h>
#include <millwright/data.h>

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    long long seconds;
} o = {.seconds = 30};

const tool_option tool_doctor_options[] = {
    {"seconds", '\0', TOOL_INTEGER, &o.seconds, "that a check may take before it counts as hanging (30)",
     .argument = "N", .low = 1, .high = 3600},
    TOOL_OPTIONS_END,
};

enum { LINE = 400 };

/* What a check says: one line. */
typedef enum verdict { GOOD = 0, BAD = 1, ABSENT = 2 } verdict;
typedef verdict check_function(char *line);

/* ---- the machine ---- */

static void processor_name(char *out, size_t size)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(out, size, "unknown processor");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(out, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file != NULL)
        fclose(file);
}

static verdict check_machine(char *line)
{
    struct utsname name;
    char processor[200];
    processor_name(processor, sizeof processor);
    if (uname(&name) != 0)
        snprintf(name.sysname, sizeof name.sysname, "unknown system");
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char bytes[32];
    snprintf(line, LINE, "%.60s %.60s %.30s, %.150s, %ld processors, %s", name.sysname, name.release, name.machine,
             processor, sysconf(_SC_NPROCESSORS_ONLN), tool_bytes(bytes, sizeof bytes, memory));
    return GOOD;
}

static verdict check_library(char *line)
{
    mw_error err = {0};
    mw_coreml *coreml = mw_coreml_open("/nonexistent.mlpackage", NULL, &err);
    const bool packages = err.status != MW_ERROR_UNSUPPORTED;
    mw_coreml_destroy(coreml);
    mw_error_clear(&err);
    mw_graph_destroy(mw_graph_open_netplist("/nonexistent", NULL, &err));
    snprintf(line, LINE, "Millwright %s, Core ML packages and ONNX: %s, netplists: %s", mw_version(),
             packages ? "yes" : "no (built without protobuf-c)",
             err.status != MW_ERROR_UNSUPPORTED ? "yes" : "no (built without libplist)");
    return GOOD;
}

/* ---- running ---- */

enum { N = 96 };

/* y = x w for numbers that fp32 adds exactly; 0 if every element is right. */
static verdict multiply_numbers(mw_provider provider, mw_device device, char *line)
{
    mw_error err = {0};
    static float x[N * N], w[N * N], y[N * N];
    for (int i = 0; i < N * N; i++) {
        x[i] = (float)(i % 7 - 3);
        w[i] = (float)(i % 5 - 2);
    }
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_output(mw_matmul(mw_input(graph, "x", MW_F32, MW_SHAPE(N, N)), mw_input(graph, "w", MW_F32, MW_SHAPE(N, N)),
                        MW_TRANSPOSE_NONE),
              "y");
    mw_compile_options options = mw_compile_defaults();
    options.provider = provider;
    options.device = device;
    mw_program *program = mw_program_create(graph, &options, &err);
    mw_program_write(program, "x", MW_F32, x, N * N, &err);
    mw_program_write(program, "w", MW_F32, w, N * N, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, y, N * N, &err);
    int wrong = 0;
    for (int i = 0; err.status == MW_OK && i < N * N; i++) {
        float sum = 0;
        for (int k = 0; k < N; k++)
            sum += x[i / N * N + k] * w[k * N + i % N];
        wrong += sum != y[i];
    }
    if (err.status != MW_OK)
        snprintf(line, LINE, "%.380s", err.message);
    else
        snprintf(line, LINE, "%.200s: a product of %d x %d, %d elements wrong", mw_program_get_info(program).where, N,
                 N, wrong);
    const verdict found = err.status == MW_ERROR_UNSUPPORTED ? ABSENT : err.status != MW_OK || wrong > 0 ? BAD : GOOD;
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return found;
}

static verdict check_engine(char *line) { return multiply_numbers(MW_PROVIDER_ENGINE, MW_DEVICE_CPU, line); }
static verdict check_model_of_ane(char *line) { return multiply_numbers(MW_PROVIDER_ENGINE, MW_DEVICE_ANE, line); }

static verdict check_espresso(char *line)
{
#if defined(__APPLE__)
    return multiply_numbers(MW_PROVIDER_ESPRESSO, MW_DEVICE_ANE, line);
#else
    snprintf(line, LINE, "not on this system: Espresso.framework is part of macOS");
    return ABSENT;
#endif
}

/* ---- learning ---- */

static mw_tensor *small_loss(mw_graph *graph, mw_tensor **out_x)
{
    *out_x = mw_input(graph, "x", MW_F32, MW_SHAPE(8, 4));
    mw_tensor *t = mw_input(graph, "t", MW_F32, MW_SHAPE(8, 1));
    return mw_mse(mw_dense(mw_tanh(mw_dense(*out_x, 16, "fc1")), 1, "fc2"), t);
}

static mw_batch small_batch(mw_feed *feeds)
{
    static float x[8 * 4], t[8];
    for (int i = 0; i < 8 * 4; i++)
        x[i] = (float)((i * 37) % 19) / 19.0f - 0.5f;
    for (int i = 0; i < 8; i++)
        t[i] = x[4 * i] * x[4 * i + 1] + x[4 * i + 2];
    feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = x, .count = 32};
    feeds[1] = (mw_feed){.name = "t", .dtype = MW_F32, .data = t, .count = 8};
    return (mw_batch){.feeds = feeds, .feed_count = 2, .examples = 8};
}

static verdict check_gradient(char *line)
{
    mw_error err = {0};
    mw_feed feeds[2];
    mw_tensor *x;
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *loss = small_loss(graph, &x);
    mw_tensor *leaves[] = {x, mw_graph_find(graph, "fc1.weight"), mw_graph_find(graph, "fc2.bias")};
    mw_gradcheck_options options = mw_gradcheck_defaults(loss, leaves, 3);
    const mw_batch batch = small_batch(feeds);
    mw_gradcheck_report report = {0};
    options.batch = &batch;
    mw_gradcheck_run(&options, &report, &err);
    snprintf(line, LINE, "%zu comparisons with differences, worst %.2g of %.2g allowed%s%.200s", report.checked,
             report.error, report.allowed, err.status != MW_OK ? ": " : "", err.message);
    mw_graph_destroy(graph);
    return report.passed ? GOOD : BAD;
}

static verdict check_training(char *line)
{
    mw_error err = {0};
    mw_feed feeds[2];
    mw_tensor *x;
    float first = 0, loss = 0;
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_trainer_options options = mw_trainer_defaults(small_loss(graph, &x), mw_adam(0.01f));
    mw_trainer *trainer = mw_trainer_create(&options, &err);
    const mw_batch batch = small_batch(feeds);
    mw_trainer_step(trainer, &batch, &first, &err);
    for (int i = 0; i < 200 && err.status == MW_OK; i++)
        mw_trainer_step(trainer, &batch, &loss, &err);
    const mw_trainer_counters counters = mw_trainer_get_info(trainer).counters;
    snprintf(line, LINE, "201 steps, loss %.3g to %.3g, %llu bytes of state left the device%s%.200s", (double)first,
             (double)loss, (unsigned long long)counters.state_bytes_out, err.status != MW_OK ? ": " : "", err.message);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(graph);
    return err.status == MW_OK && loss < 0.1f * first ? GOOD : BAD;
}

/* ---- data ---- */

/* `how` is advice for where all of `needs` is, NULL ending them: elsewhere it would lead nowhere. */
static verdict find_data(const char *folder, const char *how, const char *const *needs, char *line)
{
    bool helps = true;
    for (; *needs != NULL; needs++)
        helps = helps && access(*needs, R_OK) == 0;
    mw_error err = {0};
    mw_dataset *data = mw_dataset_open_idx(folder, "train", &err);
    if (data != NULL)
        snprintf(line, LINE, "%s: %lld examples", folder, (long long)mw_dataset_examples(data));
    else
        snprintf(line, LINE, "%s is not there%s%s", folder, helps ? ": " : "", helps ? how : "");
    mw_dataset_destroy(data);
    return data != NULL ? GOOD : ABSENT;
}

static verdict check_mnist(char *line)
{
    static const char *const needs[] = {"run", "tools/data.sh", NULL};
    return find_data("data/mnist", "./run data gets it", needs, line);
}

static verdict check_fashion(char *line)
{
    static const char *const needs[] = {"/etc/debian_version", "/usr/bin/apt-get", NULL};
    return find_data("/usr/share/datasets/fashion-mnist", "apt-get install dataset-fashion-mnist", needs, line);
}

/* ---- in a process of its own ---- */

static void work_in_child(check_function *check, int out)
{
    char line[LINE + 1] = "";
    signal(SIGPIPE, SIG_DFL);
    const verdict found = check(line);
    if (write(out, line, strlen(line)) < 0)
        _exit(BAD);
    _exit((int)found);
}

/* Reads until the child closes its end, or the time is over; false then. */
static bool listen_to(int in, char *line)
{
    size_t used = 0;
    struct pollfd wait = {.fd = in, .events = POLLIN};
    for (int left = 10 * (int)o.seconds; left > 0;) {
        if (poll(&wait, 1, 100) <= 0) {
            left--;
            continue;
        }
        const ssize_t got = read(in, line + used, LINE - used);
        if (got <= 0 || used + (size_t)got >= LINE)
            return true;
        used += (size_t)got;
        line[used] = '\0';
    }
    return false;
}

static verdict how_it_ended(pid_t child, bool in_time, char *line)
{
    int status = 0;
    if (!in_time)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!in_time)
        snprintf(line, LINE, "no answer within %lld seconds", o.seconds);
    else if (WIFSIGNALED(status))
        snprintf(line, LINE, "the process ended by signal %d", WTERMSIG(status));
    return in_time && WIFEXITED(status) ? (verdict)WEXITSTATUS(status) : BAD;
}

static verdict run_apart(check_function *check, char *line)
{
    int ends[2];
    line[0] = '\0';
    if (pipe(ends) != 0)
        return BAD;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        work_in_child(check, ends[1]);
    }
    close(ends[1]);
    const bool in_time = child > 0 && listen_to(ends[0], line);
    close(ends[0]);
    return child > 0 ? how_it_ended(child, in_time, line) : BAD;
}

/* ---- all ---- */

static const struct {
    const char *name;
    check_function *check;
} checks[] = {
    {"machine", check_machine},        {"library", check_library}, {"engine", check_engine},
    {"ane model", check_model_of_ane}, {"ane", check_espresso},    {"gradient", check_gradient},
    {"training", check_training},      {"MNIST", check_mnist},     {"Fashion-MNIST", check_fashion},
};

static void say(const char *name, verdict found, const char *line, const tool_call *call)
{
    static const char *const words[] = {"good", "BAD", "absent"};
    const char *word = words[found <= ABSENT ? found : BAD];
    if (call->json == NULL) {
        static const tool_style styles[] = {TOOL_GOOD, TOOL_BAD, TOOL_FAINT};
        tool_print("%-14s %s%-7s%s ", name, tool_style_of(stdout, styles[found <= ABSENT ? found : BAD]), word,
                   tool_style_of(stdout, TOOL_PLAIN));
        tool_show(line);
        tool_puts("\n");
        return;
    }
    mw__json_open(call->json, NULL, '{');
    mw__json_add_string(call->json, "check", name);
    mw__json_add_string(call->json, "verdict", found == GOOD ? "good" : found == ABSENT ? "absent" : "bad");
    mw__json_add_string(call->json, "text", line);
    mw__json_close(call->json, '}');
}

int tool_doctor(const tool_call *call)
{
    bool bad = false;
    if (call->json != NULL)
        mw__json_open(call->json, "checks", '[');
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        char line[LINE + 1];
        const verdict found = run_apart(checks[i].check, line);
        say(checks[i].name, found, line, call);
        bad = bad || (found != GOOD && found != ABSENT);
    }
    if (call->json != NULL)
        mw__json_close(call->json, ']');
    return bad ? TOOL_DIFFERS : TOOL_DONE;
}
