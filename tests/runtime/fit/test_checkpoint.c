/* Checkpoints and weights in files: what is restored, what is refused, and what a failing disk leaves behind. */
#include "base/file/file.h"
#include "format/tensors/safetensors.h"
#include "runtime/files.h"
#include "runtime/small.h"
#include "runtime/trainer/object/trainer_access.h"
#include "support/check.h"
#include "support/failing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct setup {
    mw_optimizer optimizer;
    mw_device device;
    uint64_t seed;
    const mw_allocator *allocator;
} setup;

static mw_trainer *make_trainer(setup how, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_trainer_options options =
        mw_trainer_defaults(net.loss, mw_optimizer_name(&how.optimizer)[0] != '?' ? how.optimizer : mw_adam(0.01f));
    options.compile.device = how.device != MW_DEVICE_AUTO ? how.device : MW_DEVICE_CPU;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    options.compile.seed = how.seed;
    options.compile.allocator = how.allocator;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

/* Steps on batches `first`, `first` + 1, ..; losses go to out. */
static void train(mw_trainer *trainer, int first, int count, float *out)
{
    const small_data data = small_make_data();
    for (int i = 0; i < count; i++) {
        small_batch batch;
        small_fill_batch(&batch, &data, (first + i) % (SMALL_EXAMPLES / SMALL_N) * SMALL_N);
        mw_error err = {0};
        float loss = 0.0f;
        CHECK_INT(mw_trainer_step(trainer, &batch.batch, &loss, &err), MW_OK);
        CHECK_OK(err);
        if (out != NULL)
            out[i] = loss;
    }
}

/* Every byte of the state. */
static size_t copy_state(mw_trainer *trainer, unsigned char *out)
{
    const mw__state_set *state = mw__trainer_state(trainer);
    size_t size = 0;
    for (size_t i = 0; i < state->count; i++) {
        memcpy(out + size, state->entries[i].data, state->entries[i].size);
        size += state->entries[i].size;
    }
    return size;
}

enum { ADAM_STATE = 3 * 4 * SMALL_PARAMETERS, STATE_MAX = 2 * ADAM_STATE };

static bool same_state(mw_trainer *a, mw_trainer *b)
{
    unsigned char left[STATE_MAX], right[STATE_MAX];
    const size_t size = copy_state(a, left);
    return size > 0 && size == copy_state(b, right) && memcmp(left, right, size) == 0;
}

static void check_resumes_bit_for_bit(setup how)
{
    mw_error err = {0};
    mw_trainer *straight = make_trainer(how, &err);
    how.seed = 99; /* other initial weights: all must come from the file */
    mw_trainer *resumed = make_trainer(how, &err);
    CHECK_OK(err);
    REQUIRE(straight != NULL && resumed != NULL);
    train(straight, 0, 7, NULL);
    train(resumed, 0, 3, NULL);
    mw_trainer_set_learning_rate(straight, 0.0123f, &err);
    CHECK(!same_state(straight, resumed));
    const mw_loader_position position = {.epoch = 3, .batch = 4};
    CHECK_INT(mw_trainer_save(straight, scratch("run"), &position, &err), MW_OK);
    mw_loader_position found = {0};
    CHECK_INT(mw_trainer_load(resumed, scratch("run"), &found, &err), MW_OK);
    CHECK_OK(err);
    CHECK(found.epoch == 3 && found.batch == 4);
    CHECK_INT(mw_trainer_get_info(resumed).steps, 7);
    CHECK(mw_trainer_get_info(resumed).learning_rate == 0.0123f);
    CHECK(same_state(straight, resumed));
    float a[6], b[6];
    train(straight, 7, 6, a);
    train(resumed, 7, 6, b);
    CHECK(memcmp(a, b, sizeof a) == 0);
    CHECK(same_state(straight, resumed));
    mw_trainer_destroy(straight);
    mw_trainer_destroy(resumed);
}

static void test_checkpoint_resumes_adam_bit_for_bit(void) { check_resumes_bit_for_bit((setup){0}); }

static void test_checkpoint_resumes_momentum_bit_for_bit(void)
{
    check_resumes_bit_for_bit((setup){.optimizer = mw_sgd_momentum(0.05f, 0.9f, true)});
}

static void test_checkpoint_resumes_fp16_bit_for_bit(void)
{
    check_resumes_bit_for_bit((setup){.device = MW_DEVICE_ANE});
}

static void test_checkpoint_resumes_every_optimizer_bit_for_bit(void)
{
    mw_optimizer optimizers[] = {mw_sgd(0.05f),     mw_adamw(0.01f, 0.1f), mw_rmsprop(0.01f), mw_rmsprop(0.01f),
                                 mw_adagrad(0.05f), mw_lion(0.01f, 0.1f),  mw_adagrad(0.05f), mw_muon(0.01f, 0.1f)};
    mw_optimizer_set(&optimizers[3], MW_OPTIMIZER_CENTERED, true);
    mw_optimizer_set(&optimizers[3], MW_OPTIMIZER_MOMENTUM, 0.9f);
    mw_optimizer_set(&optimizers[6], MW_OPTIMIZER_INITIAL_ACCUMULATOR, 0.1f);
    for (size_t i = 0; i < 4 * (sizeof optimizers / sizeof *optimizers); i++) {
        mw_optimizer optimizer = optimizers[i / 4];
        mw_optimizer_set(&optimizer, MW_OPTIMIZER_COMPENSATED, i % 2 == 1);
        check_resumes_bit_for_bit((setup){.optimizer = optimizer, .device = i % 4 < 2 ? MW_DEVICE_CPU : MW_DEVICE_ANE});
    }
}

static void test_checkpoint_counts_state_bytes(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer((setup){0}, &err);
    REQUIRE(trainer != NULL);
    unsigned char bytes[STATE_MAX];
    const size_t size = copy_state(trainer, bytes);
    CHECK_INT(size, ADAM_STATE);
    const mw_trainer_counters before = mw_trainer_get_info(trainer).counters;
    train(trainer, 0, 4, NULL);
    const mw_trainer_counters stepped = mw_trainer_get_info(trainer).counters;
    CHECK_INT(stepped.state_bytes_in, before.state_bytes_in);
    CHECK_INT(stepped.state_bytes_out, before.state_bytes_out);
    mw_trainer_save(trainer, scratch("run"), NULL, &err);
    mw_trainer_load(trainer, scratch("run"), NULL, &err);
    const mw_trainer_counters after = mw_trainer_get_info(trainer).counters;
    CHECK_INT(after.state_bytes_out - before.state_bytes_out, size);
    CHECK_INT(after.state_bytes_in - before.state_bytes_in, size);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

/* ---- what is refused ---- */

/* Loads `path`, expects the error, and that nothing changed. */
static void expect_refused(mw_trainer *trainer, const char *path, mw_status status, const char *part)
{
    unsigned char before[STATE_MAX], after[STATE_MAX];
    const size_t size = copy_state(trainer, before);
    const int64_t steps = mw_trainer_get_info(trainer).steps;
    const float rate = mw_trainer_get_info(trainer).learning_rate;
    mw_loader_position position = {.epoch = 77};
    mw_error err = {0};
    CHECK_INT(mw_trainer_load(trainer, path, &position, &err), status);
    CHECK_ERROR(err, status, part);
    copy_state(trainer, after);
    CHECK(memcmp(before, after, size) == 0);
    CHECK(mw_trainer_get_info(trainer).steps == steps && mw_trainer_get_info(trainer).learning_rate == rate);
    CHECK_INT(position.epoch, 77);
}

static void test_checkpoint_of_something_else_is_refused(void)
{
    mw_error err = {0};
    mw_trainer *adam = make_trainer((setup){0}, &err);
    mw_trainer *sgd = make_trainer((setup){.optimizer = mw_sgd(0.1f)}, &err);
    mw_optimizer other = mw_adam(0.01f);
    mw_optimizer_set(&other, MW_OPTIMIZER_BETA2, 0.99f);
    mw_trainer *other_beta = make_trainer((setup){.optimizer = other}, &err);
    other = mw_adam(0.01f);
    mw_optimizer_set(&other, MW_OPTIMIZER_COMPENSATED, true);
    mw_trainer *two_terms = make_trainer((setup){.optimizer = other}, &err);
    mw_trainer *halves = make_trainer((setup){.device = MW_DEVICE_ANE}, &err);
    REQUIRE(adam != NULL && sgd != NULL && other_beta != NULL && two_terms != NULL && halves != NULL);
    train(adam, 0, 2, NULL);
    CHECK_INT(mw_trainer_save(adam, scratch("adam"), NULL, &err), MW_OK);
    expect_refused(sgd, scratch("adam"), MW_ERROR_FORMAT, "another optimizer");
    expect_refused(other_beta, scratch("adam"), MW_ERROR_FORMAT, "another optimizer");
    expect_refused(two_terms, scratch("adam"), MW_ERROR_FORMAT, "another optimizer");
    expect_refused(adam, scratch("nothing"), MW_ERROR_FILE, "nothing");
    CHECK_INT(mw_trainer_save_weights(adam, scratch("weights"), &err), MW_OK);
    expect_refused(adam, scratch("weights"), MW_ERROR_FORMAT, "mw_trainer_load_weights");
    mw_error refused = {0};
    CHECK_INT(mw_trainer_load(halves, scratch("adam"), NULL, &refused), MW_ERROR_FORMAT);
    CHECK_OK(err);
    mw_trainer_destroy(adam);
    mw_trainer_destroy(sgd);
    mw_trainer_destroy(other_beta);
    mw_trainer_destroy(two_terms);
    mw_trainer_destroy(halves);
}

/* fp16 Adam as version 0.1 saved it: "fc1.bias#v" where "fc1.bias#root" stands now. */
static void test_checkpoint_with_squares_for_roots_is_refused(void)
{
    static const float zeros[1000];
    mw_error err = {0};
    mw_trainer *trainer = make_trainer((setup){.device = MW_DEVICE_ANE}, &err);
    REQUIRE(trainer != NULL);
    const mw__state_set *state = mw__trainer_state(trainer);
    const mw__safetensors_note notes[] = {{"mw.format", "millwright-checkpoint"},
                                          {"mw.version", "1"},
                                          {"mw.optimizer", mw__trainer_description(trainer)}};
    mw__safetensors_item items[32];
    char names[32][64];
    for (size_t i = 0; i < state->count; i++) {
        const mw__state_entry *entry = &state->entries[i];
        const char *root = strstr(entry->name, "#root");
        snprintf(names[i], sizeof names[i], "%.*s%s",
                 root != NULL ? (int)(root - entry->name) : (int)strlen(entry->name), entry->name,
                 root != NULL ? "#v" : "");
        items[i] = (mw__safetensors_item){names[i], entry->dtype, entry->shape, zeros};
    }
    CHECK_INT(mw__safetensors_write(NULL, scratch("squares"), notes, 3, items, state->count, &err), MW_OK);
    expect_refused(trainer, scratch("squares"), MW_ERROR_FORMAT, "mw_trainer_load_weights");
    CHECK_INT(mw_trainer_load_weights(trainer, scratch("squares"), NULL, &err), MW_OK);
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

/* Another architecture, as a file made by hand: one shape, one missing tensor, one too many. */
static void write_variant(mw_trainer *trainer, const char *path, int variant, mw_error *err)
{
    static const float zeros[1000];
    const mw__state_set *state = mw__trainer_state(trainer);
    const mw__safetensors_note notes[] = {{"mw.format", "millwright-checkpoint"},
                                          {"mw.version", variant == 3 ? "2" : "1"},
                                          {"mw.optimizer", mw__trainer_description(trainer)},
                                          {"mw.step", variant == 4   ? "-1"
                                                      : variant == 7 ? "9223372036854775807"
                                                                     : "5"},
                                          {"mw.learning_rate", variant == 5 ? "nan" : "0x1p-3"},
                                          {"mw.epoch", variant == 6 ? "1e3" : "0"},
                                          {"mw.batch", "0"}};
    mw__safetensors_item items[32];
    size_t count = 0;
    for (size_t i = 0; i < state->count; i++) {
        if (variant == 1 && i == 2)
            continue;
        items[count] =
            (mw__safetensors_item){state->entries[i].name, state->entries[i].dtype, state->entries[i].shape, zeros};
        if (variant == 0 && i == 1)
            items[count].shape.dim[0]++;
        count++;
    }
    if (variant == 2)
        items[count++] = (mw__safetensors_item){"one.more", MW_F32, MW_SHAPE(2), zeros};
    mw__safetensors_write(NULL, path, notes, 7, items, count, err);
}

static void test_checkpoint_of_another_architecture_is_refused(void)
{
    static const char *const parts[] = {"another architecture: its \"",
                                        "another architecture: it has no \"",
                                        "\"one.more\", which the trainer has not",
                                        "version \"2\"",
                                        "\"mw.step\"",
                                        "learning rate",
                                        "\"mw.epoch\"",
                                        "\"mw.step\""};
    mw_error err = {0};
    mw_trainer *trainer = make_trainer((setup){0}, &err);
    REQUIRE(trainer != NULL);
    for (int variant = 0; variant < 8; variant++) {
        write_variant(trainer, scratch("variant"), variant, &err);
        CHECK_OK(err);
        expect_refused(trainer, scratch("variant"), variant == 5 ? MW_ERROR_ARGUMENT : MW_ERROR_FORMAT, parts[variant]);
    }
    write_variant(trainer, scratch("variant"), 8, &err); /* the sound one: the test above can pass */
    CHECK_INT(mw_trainer_load(trainer, scratch("variant"), NULL, &err), MW_OK);
    CHECK_INT(mw_trainer_get_info(trainer).steps, 5);
    mw_trainer_destroy(trainer);
}

static void test_checkpoint_that_is_damaged_is_refused(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer((setup){0}, &err);
    REQUIRE(trainer != NULL);
    train(trainer, 0, 2, NULL);
    mw_trainer_save(trainer, scratch("run"), NULL, &err);
    train(trainer, 2, 1, NULL);
    size_t size = 0;
    unsigned char *bytes = get_file(scratch("run"), &size);
    REQUIRE(bytes != NULL);
    for (size_t bit = 0; bit < 8 * size; bit += 37) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        put_file(scratch("flipped"), bytes, size);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        expect_refused(trainer, scratch("flipped"), MW_ERROR_FORMAT, "flipped");
    }
    for (size_t cut = 0; cut < size; cut += 13) {
        put_file(scratch("cut"), bytes, cut);
        expect_refused(trainer, scratch("cut"), MW_ERROR_FORMAT, "cut");
    }
    put_file(scratch("same"), bytes, size);
    CHECK_INT(mw_trainer_load(trainer, scratch("same"), NULL, &err), MW_OK);
    free(bytes);
    mw_trainer_destroy(trainer);
}

static void test_checkpoint_calls_check_their_arguments(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer((setup){0}, &err);
    REQUIRE(trainer != NULL);
    mw_error a = {0}, b = {0}, c = {0}, d = {0}, e = {0};
    CHECK_INT(mw_trainer_save(NULL, "x", NULL, &a), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_trainer_save(trainer, NULL, NULL, &b), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_trainer_load(trainer, "", NULL, &c), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_trainer_load_weights(NULL, "x", NULL, &d), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_trainer_save_weights(trainer, NULL, &e), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_trainer_save(trainer, scratch("unmade"), NULL, &a), MW_ERROR_ARGUMENT); /* set already */
    CHECK(!file_exists(scratch("unmade")));
    /* such a position was written, and refused when it was read */
    err = (mw_error){0};
    CHECK_INT(mw_trainer_save(trainer, scratch("unmade"), &(mw_loader_position){.epoch = -1}, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "epoch -1");
    CHECK(!file_exists(scratch("unmade")));
    mw_trainer_destroy(trainer);
}

/* ---- a disk that fails ---- */

static struct {
    int calls, fail_at;
    bool kill;
} disk;

static bool fails(void)
{
    const bool now = disk.calls++ == disk.fail_at;
    if (now && disk.kill)
        _exit(0);
    errno = EIO;
    return now;
}

static int failing_open(int folder, const char *path, int flags, int mode)
{
    return fails() ? -1 : openat(folder, path, flags, mode);
}

static int failing_stat(int folder, const char *name, struct stat *out, bool follow)
{
    return fails() ? -1 : mw__file_real_calls.stat(folder, name, out, follow);
}

static int failing_chmod(int descriptor, int mode) { return fails() ? -1 : fchmod(descriptor, (mode_t)mode); }
static int failing_fsync(int descriptor) { return fails() ? -1 : fsync(descriptor); }

static int failing_rename(int folder, const char *from, const char *to)
{
    return fails() ? -1 : renameat(folder, from, folder, to);
}

static long failing_write(int descriptor, const void *data, size_t size)
{
    if (fails())
        return -1;
    return write(descriptor, data, size > 100 ? 100 : size); /* short writes are no errors */
}

static int failing_close(int descriptor)
{
    const bool failed = fails();
    const int result = close(descriptor);
    errno = EIO;
    return failed ? -1 : result;
}

/* Installed by set_failing_calls: what is not named here is the real call. */
static mw__file_calls failing_calls;

static void set_failing_calls(void)
{
    failing_calls = mw__file_real_calls;
    failing_calls.open = failing_open;
    failing_calls.stat = failing_stat;
    failing_calls.chmod = failing_chmod;
    failing_calls.write = failing_write;
    failing_calls.fsync = failing_fsync;
    failing_calls.close = failing_close;
    failing_calls.rename = failing_rename;
    mw__file_set_calls(&failing_calls);
}

static bool same_file(const char *path, const unsigned char *bytes, size_t size)
{
    size_t found_size = 0;
    unsigned char *found = get_file(path, &found_size);
    const bool same = found != NULL && found_size == size && memcmp(found, bytes, size) == 0;
    free(found);
    return same;
}

/* After the rename only the folder's fsync is left: then the new file is in place, whole. */
static void test_checkpoint_write_that_fails_leaves_a_whole_file(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer((setup){0}, &err);
    REQUIRE(trainer != NULL);
    train(trainer, 0, 1, NULL);
    mw_trainer_save(trainer, scratch("disk"), NULL, &err);
    size_t old_size = 0, new_size = 0;
    unsigned char *old = get_file(scratch("disk"), &old_size);
    train(trainer, 1, 1, NULL);
    mw_trainer_save(trainer, scratch("new"), NULL, &err);
    unsigned char *new = get_file(scratch("new"), &new_size);
    REQUIRE(old != NULL && new != NULL);
    const int files = scratch_count();
    int n = 0, kept = 0;
    for (bool finished = false; !finished && n < 1000; n++) {
        put_file(scratch("disk"), old, old_size);
        disk.calls = 0;
        disk.fail_at = n;
        set_failing_calls();
        mw_error refused = {0};
        const mw_status status = mw_trainer_save(trainer, scratch("disk"), NULL, &refused);
        mw__file_set_calls(NULL);
        finished = disk.calls <= n;
        const bool is_old = same_file(scratch("disk"), old, old_size);
        const bool is_new = same_file(scratch("disk"), new, new_size);
        check_note(is_old || is_new, __FILE__, __LINE__, "call %d left a broken file", n);
        if (status == MW_OK) {
            CHECK(is_new);
        } else {
            CHECK_ERROR(refused, MW_ERROR_FILE, "cannot ");
            kept += is_old;
        }
        CHECK_INT(scratch_count(), files); /* no temporary is left */
    }
    CHECK(n > 10 && kept >= n - 4);
    free(old);
    free(new);
    mw_trainer_destroy(trainer);
}

/* A child dies at every system call of a save: the file is the old one or the new one. */
static void test_checkpoint_writer_that_dies_leaves_a_whole_file(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer((setup){0}, &err);
    REQUIRE(trainer != NULL);
    unsigned char state[STATE_MAX];
    copy_state(trainer, state);
    const mw__safetensors_item item = {"state", MW_U8, MW_SHAPE(ADAM_STATE), state};
    CHECK_INT(mw__safetensors_write(NULL, scratch("killed"), NULL, 0, &item, 1, &err), MW_OK);
    size_t size = 0;
    unsigned char *bytes = get_file(scratch("killed"), &size);
    REQUIRE(bytes != NULL);
    const char *path = scratch("killed");
    for (int n = 0; n < 40; n++) {
        const pid_t child = fork(); /* the child writes a file and never asks the engine for anything */
        if (child == 0) {
            disk.calls = 0;
            disk.fail_at = n;
            disk.kill = true;
            set_failing_calls();
            mw__safetensors_write(NULL, path, NULL, 0, &item, 1, NULL);
            _exit(0);
        }
        int how = 0;
        CHECK(child > 0 && waitpid(child, &how, 0) == child);
        CHECK(same_file(path, bytes, size));
    }
    free(bytes);
    mw_trainer_destroy(trainer);
}

/* ---- weights ---- */

static void test_weights_round_trip(void)
{
    mw_error err = {0};
    mw_trainer *one = make_trainer((setup){.seed = 1}, &err);
    mw_trainer *two = make_trainer((setup){.seed = 2, .optimizer = mw_sgd(0.1f)}, &err);
    mw_trainer *half = make_trainer((setup){.seed = 3, .device = MW_DEVICE_ANE}, &err);
    REQUIRE(one != NULL && two != NULL && half != NULL);
    train(one, 0, 3, NULL);
    CHECK_INT(mw_trainer_save_weights(one, scratch("weights"), &err), MW_OK);
    CHECK_INT(mw_trainer_load_weights(two, scratch("weights"), NULL, &err), MW_OK);
    CHECK_OK(err);
    small_weights a = small_read(one, &err), b = small_read(two, &err);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    CHECK_INT(mw_trainer_get_info(two).steps, 0);

    CHECK_INT(mw_trainer_load_weights(half, scratch("weights"), NULL, &err), MW_OK); /* F32 -> F16 */
    small_weights c = small_read(half, &err);
    for (int i = 0; i < SMALL_PARAMETERS; i++)
        CHECK_NEAR(c.value[i], a.value[i], fabs(a.value[i]) * 0x1p-11 + 0x1p-25);
    CHECK_INT(mw_trainer_save_weights(half, scratch("halves"), &err), MW_OK);
    CHECK_INT(mw_trainer_load_weights(two, scratch("halves"), NULL, &err), MW_OK); /* F16 -> F32 is exact */
    b = small_read(two, &err);
    CHECK(memcmp(&c, &b, sizeof c) == 0);
    CHECK_OK(err);
    mw_trainer_destroy(one);
    mw_trainer_destroy(two);
    mw_trainer_destroy(half);
}

/* The parameters of the small net in a file of somebody else, with one thing changed. */
static void write_weights(int variant, mw_error *err)
{
    static float values[SMALL_PARAMETERS + 50];
    const mw_shape shapes[4] = {MW_SHAPE(SMALL_H, SMALL_D), MW_SHAPE(SMALL_H), MW_SHAPE(SMALL_C, SMALL_H),
                                MW_SHAPE(SMALL_C)};
    for (int i = 0; i < SMALL_PARAMETERS; i++)
        values[i] = (float)i / 8.0f;
    if (variant == 2)
        values[small_offset(2) + 4] = (float)NAN;
    if (variant == 3)
        values[1] = 1e6f; /* too large for fp16 */
    mw__safetensors_item items[5];
    for (int i = 0; i < 4; i++)
        items[i] = (mw__safetensors_item){small_name(i), MW_F32, shapes[i], values + small_offset(i)};
    if (variant == 1)
        items[1].shape = MW_SHAPE(SMALL_H + 1);
    items[4] = (mw__safetensors_item){"unrelated", MW_I64, MW_SHAPE(3), values};
    mw__safetensors_write(NULL, scratch("foreign"), NULL, 0, items + (variant == 4), 5 - (size_t)(variant == 4), err);
}

static void test_weights_of_something_else_are_refused(void)
{
    static const char *const parts[] = {"", "\"fc1.bias\" is [7]", "element 4 of \"fc2.weight\"", "fp16",
                                        "no tensor for 1 of the trainer's weights: \"fc1.weight\""};
    mw_error err = {0};
    mw_trainer *full = make_trainer((setup){0}, &err), *half = make_trainer((setup){.device = MW_DEVICE_ANE}, &err);
    REQUIRE(full != NULL && half != NULL);
    for (int variant = 1; variant < 5; variant++) {
        write_weights(variant, &err);
        CHECK_OK(err);
        mw_trainer *trainer = variant == 3 ? half : full;
        unsigned char before[STATE_MAX], after[STATE_MAX];
        const size_t size = copy_state(trainer, before);
        mw_error refused = {0};
        CHECK(mw_trainer_load_weights(trainer, scratch("foreign"), NULL, &refused) != MW_OK);
        CHECK_CONTAINS(refused.message, parts[variant]);
        copy_state(trainer, after);
        CHECK(memcmp(before, after, size) == 0);
    }
    write_weights(0, &err);
    CHECK_INT(mw_trainer_load_weights(full, scratch("foreign"), NULL, &err), MW_OK); /* "unrelated" is ignored */
    const small_weights got = small_read(full, &err);
    CHECK_NEAR(got.value[SMALL_PARAMETERS - 1], (SMALL_PARAMETERS - 1) / 8.0, 0.0);
    mw_trainer_destroy(full);
    mw_trainer_destroy(half);
}

static void test_weights_that_are_damaged_are_refused(void)
{
    mw_error err = {0};
    mw_trainer *trainer = make_trainer((setup){0}, &err);
    REQUIRE(trainer != NULL);
    mw_trainer_save_weights(trainer, scratch("weights"), &err);
    size_t size = 0;
    unsigned char *bytes = get_file(scratch("weights"), &size);
    REQUIRE(bytes != NULL);
    for (size_t bit = 0; bit < 8 * size; bit += 11) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        put_file(scratch("flipped"), bytes, size);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        mw_error refused = {0};
        CHECK_INT(mw_trainer_load_weights(trainer, scratch("flipped"), NULL, &refused), MW_ERROR_FORMAT);
    }
    free(bytes);
    mw_trainer_destroy(trainer);
}

static void test_checkpoint_survives_failing_allocations(void)
{
    failing_allocator failing = {.fail_at = -1};
    const mw_allocator allocator = failing_allocator_of(&failing);
    mw_error err = {0};
    mw_trainer *trainer = make_trainer((setup){.allocator = &allocator}, &err);
    REQUIRE(trainer != NULL);
    mw_trainer_save(trainer, scratch("run"), NULL, &err);
    mw_trainer_save_weights(trainer, scratch("weights"), &err);
    CHECK_OK(err);
    const long live = failing.live;
    for (int kind = 0; kind < 4; kind++) {
        bool finished = false;
        for (long n = 0; !finished && n < 500; n++) {
            failing.requests = 0;
            failing.failed = false;
            failing.fail_at = n;
            mw_error refused = {0};
            const mw_status status = kind == 0   ? mw_trainer_save(trainer, scratch("run"), NULL, &refused)
                                     : kind == 1 ? mw_trainer_load(trainer, scratch("run"), NULL, &refused)
                                     : kind == 2 ? mw_trainer_save_weights(trainer, scratch("weights"), &refused)
                                                 : mw_trainer_load_weights(trainer, scratch("weights"), NULL, &refused);
            finished = !failing.failed;
            CHECK_INT(status, finished ? MW_OK : MW_ERROR_MEMORY);
            CHECK_INT(failing.live, live);
        }
        CHECK(finished);
    }
    failing.fail_at = -1;
    mw_trainer_destroy(trainer);
    CHECK_INT(failing.live, 0);
}

int main(void)
{
    RUN(test_checkpoint_resumes_adam_bit_for_bit);
    RUN(test_checkpoint_resumes_momentum_bit_for_bit);
    RUN(test_checkpoint_resumes_fp16_bit_for_bit);
    RUN(test_checkpoint_resumes_every_optimizer_bit_for_bit);
    RUN(test_checkpoint_counts_state_bytes);
    RUN(test_checkpoint_of_something_else_is_refused);
    RUN(test_checkpoint_of_another_architecture_is_refused);
    RUN(test_checkpoint_with_squares_for_roots_is_refused);
    RUN(test_checkpoint_that_is_damaged_is_refused);
    RUN(test_checkpoint_calls_check_their_arguments);
    RUN(test_checkpoint_write_that_fails_leaves_a_whole_file);
    RUN(test_checkpoint_writer_that_dies_leaves_a_whole_file);
    RUN(test_weights_round_trip);
    RUN(test_weights_of_something_else_are_refused);
    RUN(test_weights_that_are_damaged_are_refused);
    RUN(test_checkpoint_survives_failing_allocations);
    return check_finish();
}
