/* A disk that fills up on rank 0 while all train: all ranks end with its error, the checkpoint that was there stays,
 * and with room again the run goes on to the weights of one that was never disturbed. By night 20 times, by day twice.
 */
#include "mpi/on_ranks.h"

#include <millwright/millwright.h>

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/mount.h>
#endif

enum { EXAMPLES = 192, BATCH = 4, IN = 20, OUT = 4, WEIGHTS = IN * 16, FILE_MAX = 1 << 16 };

/* ---- disks ---- */

typedef struct disk {
    char folder[64], path[96], ballast[96];
    bool mounted; /* a file system of 128 kB; else files may not grow, which any kernel can be told */
} disk;

/* Some are as if no file system could be mounted, which needs rights that not every machine gives. */
static void open_disk(disk *d, bool mounts)
{
    snprintf(d->folder, sizeof d->folder, "/tmp/mw_disk_XXXXXX");
    CHECK(mkdtemp(d->folder) != NULL);
    (void)mounts;
#if defined(__linux__)
    d->mounted = mounts && mount("tmpfs", d->folder, "tmpfs", 0, "size=128k") == 0;
#endif
    snprintf(d->path, sizeof d->path, "%s/run.safetensors", d->folder);
    snprintf(d->ballast, sizeof d->ballast, "%s/ballast", d->folder);
}

static void fill_disk(const disk *d)
{
    static const char page[4096];
    signal(SIGXFSZ, SIG_IGN);
    if (!d->mounted) {
        CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 1000, .rlim_max = RLIM_INFINITY}) == 0);
        return;
    }
    FILE *f = fopen(d->ballast, "wb");
    REQUIRE(f != NULL);
    setvbuf(f, NULL, _IONBF, 0);
    while (fwrite(page, 1, sizeof page, f) == sizeof page)
        continue;
    fclose(f);
}

static void empty_disk(const disk *d)
{
    if (d->mounted)
        CHECK(unlink(d->ballast) == 0);
    else
        CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) == 0);
}

static void close_disk(const disk *d)
{
    unlink(d->path);
#if defined(__linux__)
    if (d->mounted)
        CHECK(umount2(d->folder, MNT_DETACH) == 0);
#endif
    rmdir(d->folder);
}

static size_t read_file(const char *path, char *bytes)
{
    FILE *f = fopen(path, "rb");
    const size_t size = f != NULL ? fread(bytes, 1, FILE_MAX, f) : 0;
    if (f != NULL)
        fclose(f);
    return size;
}

/* Files besides the checkpoint, its lock and the ballast. */
static int count_others(const disk *d)
{
    int count = 0;
    DIR *folder = opendir(d->folder);
    for (struct dirent *e = folder != NULL ? readdir(folder) : NULL; e != NULL; e = readdir(folder))
        count += e->d_name[0] != '.' && strcmp(e->d_name, "run.safetensors") != 0 &&
                 strcmp(e->d_name, "ballast") != 0 && strstr(e->d_name, "lock") == NULL;
    if (folder != NULL)
        closedir(folder);
    return count;
}

/* ---- training ---- */

static mw_dataset *make_data(mw_error *err)
{
    static float x[EXAMPLES * IN];
    static int32_t y[EXAMPLES];
    for (int i = 0; i < EXAMPLES * IN; i++)
        x[i] = (float)((i * 37 + i / IN * 11) % 101) / 50.0f - 1.0f;
    for (int i = 0; i < EXAMPLES; i++)
        y[i] = (int32_t)((x[i * IN] + x[i * IN + 1] + 2.0f) * (float)OUT / 4.01f);
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(IN), .data = x},
                                 {.name = "y", .dtype = MW_I32, .data = y}};
    return mw_dataset_create(columns, 2, EXAMPLES, true, err);
}

static mw_trainer *make_trainer(mw_communicator *c, bool shards, mw_error *err)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(BATCH, IN)), *y = mw_input(g, "y", MW_I32, MW_SHAPE(BATCH));
    mw_tensor *logits = mw_dense(mw_relu(mw_dense(x, 16, "fc1")), OUT, "fc2");
    mw_trainer_options o = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(1e-2f));
    o.ranks.communicator = c;
    o.ranks.shard_states = shards;
    o.compile.threads = 1;
    mw_trainer *t = mw_trainer_create(&o, err);
    mw_graph_destroy(g);
    return t;
}

typedef struct watcher {
    const disk *disk;
    int64_t fill_at; /* step; 0 = never */
    size_t size;     /* of the checkpoint that was there then */
    char bytes[FILE_MAX];
} watcher;

static bool watch(void *user, const mw_progress *progress)
{
    watcher *w = user;
    if (on_ranks_rank() == 0 && progress->step == w->fill_at && !progress->epoch_end) {
        w->size = read_file(w->disk->path, w->bytes);
        fill_disk(w->disk);
    }
    return false;
}

static void fit(mw_communicator *c, const disk *d, bool shards, int64_t fill_at, watcher *w, float *weights,
                mw_error *err)
{
    mw_error own = {0};
    mw_dataset *data = make_data(&own);
    mw_trainer *t = make_trainer(c, shards, &own);
    mw_fit_options o = mw_fit_defaults(data, 2);
    *w = (watcher){.disk = d, .fill_at = fill_at};
    o.checkpoint.path = d != NULL ? d->path : NULL;
    o.checkpoint.steps = d != NULL ? 2 : 0;
    o.progress.quiet = o.progress.ignore_signals = true;
    o.progress.function = watch;
    o.progress.user = w;
    CHECK_OK(own);
    mw_trainer_fit(t, &o, err);
    mw_trainer_read(t, "fc1.weight", MW_F32, weights, WEIGHTS, &own);
    mw_trainer_destroy(t);
    mw_dataset_destroy(data);
}

static void check_failed(const disk *d, const watcher *w, const mw_error *err)
{
    static char now[FILE_MAX];
    CHECK_INT(err->status, MW_ERROR_FILE);
    CHECK_CONTAINS(err->message, d->path);
    CHECK_CONTAINS(err->message, d->mounted ? "No space left" : "too large");
    if (on_ranks_rank() > 0)
        CHECK_CONTAINS(err->message, "rank 0: ");
    if (on_ranks_rank() > 0)
        return;
    CHECK(w->size > 1000 && read_file(d->path, now) == w->size && memcmp(now, w->bytes, w->size) == 0);
    CHECK_INT(count_others(d), 0);
    empty_disk(d);
}

static void check_full(mw_communicator *c, int repetition, const float *undisturbed)
{
    static watcher w;
    static float weights[WEIGHTS];
    mw_error failed = {0}, err = {0};
    disk d = {.mounted = false};
    if (on_ranks_rank() == 0)
        open_disk(&d, repetition % 3 != 1);
    mw_communicator_broadcast(c, 0, &d, sizeof d, &err);
    fit(c, &d, repetition % 2 == 1, 3 + repetition % 7, &w, weights, &failed);
    check_failed(&d, &w, &failed);
    fit(c, &d, repetition % 2 == 1, 0, &w, weights, &err);
    CHECK_OK(err);
    CHECK(memcmp(weights, undisturbed, sizeof weights) == 0);
    mw_communicator_barrier(c, &err);
    if (on_ranks_rank() == 0)
        close_disk(&d);
}

static void test_a_disk_that_fills_up_on_rank_0_ends_all(void)
{
    static watcher w;
    static float undisturbed[WEIGHTS];
    const char *nightly = getenv("MW_NIGHTLY");
    const int repetitions = nightly != NULL && nightly[0] == '1' ? 20 : 2;
    mw_error err = {0};
    mw_communicator *c = on_ranks_communicator();
    fit(c, NULL, false, 0, &w, undisturbed, &err);
    CHECK_OK(err);
    for (int i = 0; i < repetitions; i++)
        check_full(c, i, undisturbed);
    CHECK_INT(mw_communicator_finish(c, &err), MW_OK);
}

int main(int argc, char **argv)
{
    on_ranks_begin(&argc, &argv);
    RUN(test_a_disk_that_fills_up_on_rank_0_ends_all);
    return on_ranks_finish();
}
