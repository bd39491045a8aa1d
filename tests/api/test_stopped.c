/* An example that is stopped by Ctrl-C: it saves, says so to the shell, and goes on when it is called again. */
#include "support/check.h"
#include "support/child.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXAMPLES = 256, SIDE = 28, PIXELS = SIDE * SIDE };

static char folder[64] = "/tmp/millwright-stopped-XXXXXX";

static const char *in_folder(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void put_be32(FILE *file, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        fputc((int)(value >> shift & 0xff), file);
}

/* A data set in the form of MNIST: a square of the image tells the class. */
static bool write_part(const char *images, const char *labels)
{
    FILE *x = fopen(in_folder(images), "wb"), *y = fopen(in_folder(labels), "wb");
    if (x == NULL || y == NULL)
        return false;
    put_be32(x, 0x803);
    put_be32(y, 0x801);
    put_be32(x, EXAMPLES);
    put_be32(y, EXAMPLES);
    put_be32(x, SIDE);
    put_be32(x, SIDE);
    for (int i = 0; i < EXAMPLES; i++) {
        fputc(i % 10, y);
        for (int p = 0; p < PIXELS; p++)
            fputc(p / 80 == i % 10 ? 255 : 0, x);
    }
    return fclose(x) == 0 && fclose(y) == 0;
}

static bool write_data(void)
{
    return write_part("train-images-idx3-ubyte", "train-labels-idx1-ubyte") &&
           write_part("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte");
}

/* Starts the example; what it writes to standard error comes out of *out_log. */
static pid_t start(const char *epochs, FILE **out_log)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(120);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        if (freopen("/dev/null", "w", stdout) != NULL)
            execl(MW_EXAMPLES_BIN_DIR "/mnist_mlp", "mnist_mlp", "--data", folder, "--checkpoint", in_folder("run"),
                  "--epochs", epochs, (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    *out_log = fdopen(ends[0], "r");
    return child;
}

static int finish(pid_t child, FILE *log, char *said, size_t size)
{
    int status = -1;
    said[fread(said, 1, size - 1, log)] = '\0';
    fclose(log);
    waitpid(child, &status, 0);
    return status;
}

static void test_ctrl_c_saves_and_exits_as_shells_expect(void)
{
    char line[512], said[8192];
    FILE *log = NULL;
    struct stat saved;
    if (!child_can_start(MW_EXAMPLES_BIN_DIR "/mnist_mlp"))
        SKIP("an emulator runs this test, and no other program");
    REQUIRE(write_data());
    pid_t child = start("1000000", &log);
    REQUIRE(child > 0 && log != NULL);
    CHECK(fgets(line, sizeof line, log) != NULL); /* the first epoch's: it is training */
    CHECK_CONTAINS(line, "epoch 1");
    kill(child, SIGINT);
    const int status = finish(child, log, said, sizeof said);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGINT);
    CHECK_CONTAINS(said, "stopped");
    CHECK(stat(in_folder("run"), &saved) == 0 && saved.st_size > 0);
    child = start("1", &log); /* more than that is done already */
    REQUIRE(child > 0 && log != NULL);
    CHECK_INT(finish(child, log, said, sizeof said), 0);
    check_note(strstr(said, "epoch 1 ") == NULL, __FILE__, __LINE__, "it began anew: %s", said);
}

int main(void)
{
    if (access(MW_EXAMPLES_BIN_DIR "/mnist_mlp", X_OK) != 0) {
        printf("no examples are built\n");
        return 0;
    }
    if (mkdtemp(folder) == NULL)
        return 1;
    RUN(test_ctrl_c_saves_and_exits_as_shells_expect);
    const char *const files[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                 "t10k-labels-idx1-ubyte", "run"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        (void)unlink(in_folder(files[i]));
    (void)rmdir(folder);
    return check_finish();
}
