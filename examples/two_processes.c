/* Two processes: a worker compiles a program and keeps it, a client feeds it and reads its results through memory that
 * both share, without a copy; a byte through a pipe says whose turn it is. */
#include <millwright/ane_e5rt.h>
#include <millwright/millwright.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 256, ROUNDS = 1000 };

static const size_t bytes[] = {COUNT * sizeof(uint16_t)};

/* The descriptors that the worker inherits. */
typedef struct channel {
    int x, y; /* shared memory */
    int turn[2], answer[2];
} channel;

static int fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

/* ---- the worker ---- */

/* y = tanh(x), on halves */
static bool write_program(const char *folder)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_output(mw_tanh(mw_input(graph, "x", MW_F16, MW_SHAPE(COUNT))), "y");
    mw_graph_write(graph, folder, NULL, &err);
    mw_graph_destroy(graph);
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    return err.status == MW_OK;
}

static int serve(const char *folder, const channel *l)
{
    static const char *const x[] = {"x"}, *const y[] = {"y"};
    char path[512], byte;
    snprintf(path, sizeof path, "%s/model.mil", folder);
    if (!write_program(folder))
        return 1;
    ane_e5rt_program_t *program = ane_e5rt_program_compile(path, NULL, 4, x, bytes, 1, y, bytes, 1);
    if (program == NULL || ane_e5rt_program_bind_input_memory(program, 0, "x", l->x) != 0 ||
        ane_e5rt_program_bind_output_memory(program, 0, "y", l->y) != 0)
        return 1; /* the call has said why */
    while (read(l->turn[0], &byte, 1) == 1 && ane_e5rt_program_execute(program) == 0)
        if (write(l->answer[1], &byte, 1) != 1)
            break;
    ane_e5rt_program_release(program);
    return 0;
}

/* ---- the client ---- */

/* Numbers 0 to 1 in steps of 1/1024 are fp16 without rounding. */
static uint16_t half_of(int thousandths)
{
    int exponent = 0;
    if (thousandths == 0)
        return 0;
    while (thousandths >> (exponent + 1) != 0)
        exponent++;
    return (uint16_t)((exponent + 5) << 10 | ((thousandths << (10 - exponent)) & 0x3ff));
}

static double number_of(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 0x3ff;
    const double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);
    return half >> 15 ? -size : size;
}

static double now(void)
{
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int ask(const channel *l, uint16_t *x, const uint16_t *y)
{
    static double seconds[ROUNDS];
    double worst = 0.0;
    char byte = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++)
            x[i] = half_of((i * 4 + round) % 1024);
        const double start = now();
        if (write(l->turn[1], &byte, 1) != 1 || read(l->answer[0], &byte, 1) != 1)
            return fail("the worker has gone");
        seconds[round] = now() - start;
        for (int i = 0; i < COUNT; i++)
            worst = fmax(worst, fabs(number_of(y[i]) - tanh(number_of(x[i]))));
    }
    qsort(seconds, ROUNDS, sizeof seconds[0], by_size);
    printf("%d rounds of %d numbers, median %.1f us\n", ROUNDS, COUNT, seconds[ROUNDS / 2] * 1e6);
    printf("largest difference %.5f\n", worst);
    return 0;
}

/* ---- both ---- */

/* Memory without a name, which a child inherits; -1 if there is none. */
static int share_memory(const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "/millwright-%ld-%s", (long)getpid(), what);
    const int fd = shm_open(name, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0)
        return -1;
    shm_unlink(name);
    return ftruncate(fd, (off_t)bytes[0]) == 0 && fcntl(fd, F_SETFD, 0) == 0 ? fd : -1;
}

/* The worker is a program of its own: it inherits no more than the descriptors. */
static pid_t start_worker(const char *self, const char *folder, const channel *l)
{
    char text[5][16];
    const int fds[] = {l->x, l->y, l->turn[0], l->answer[1]};
    for (int i = 0; i < 4; i++)
        snprintf(text[i], sizeof text[i], "%d", fds[i]);
    const pid_t child = fork();
    if (child == 0) {
        close(l->turn[1]);
        close(l->answer[0]);
        execl(self, self, "worker", folder, text[0], text[1], text[2], text[3], (char *)NULL);
        _exit(127);
    }
    close(l->turn[0]);
    close(l->answer[1]);
    return child;
}

static int run(const char *self, const char *folder)
{
    int status = 1;
    channel l = {.x = share_memory("x"), .y = share_memory("y")};
    if (l.x < 0 || l.y < 0 || pipe(l.turn) != 0 || pipe(l.answer) != 0)
        return fail("there is no shared memory");
    uint16_t *x = mmap(NULL, bytes[0], PROT_READ | PROT_WRITE, MAP_SHARED, l.x, 0);
    const uint16_t *y = mmap(NULL, bytes[0], PROT_READ, MAP_SHARED, l.y, 0);
    if (x == MAP_FAILED || y == MAP_FAILED)
        return fail("the shared memory cannot be mapped");
    const pid_t worker = start_worker(self, folder, &l);
    if (worker < 0)
        return fail("the worker cannot be started");
    const int result = ask(&l, x, y);
    close(l.turn[1]); /* the worker ends */
    waitpid(worker, &status, 0);
    return result != 0 || status != 0;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/two_processes-XXXXXX", path[64];
    if (argc == 7 && strcmp(argv[1], "worker") == 0) {
        const channel l = {
            .x = atoi(argv[3]), .y = atoi(argv[4]), .turn = {atoi(argv[5]), -1}, .answer = {-1, atoi(argv[6])}};
        return serve(argv[2], &l);
    }
    if (argc > 1)
        return fail("usage: two_processes") + 1;
    signal(SIGPIPE, SIG_IGN); /* a worker that has gone is said in words */
    if (mkdtemp(folder) == NULL)
        return fail("there is no room in /tmp");
    const int status = run(argv[0], folder);
    snprintf(path, sizeof path, "%s/model.mil", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/weights.bin", folder);
    unlink(path);
    rmdir(folder);
    return status;
}
