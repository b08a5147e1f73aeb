"""The kind of all texts that have no known sentence: advice by what was under way."""

from __future__ import annotations

from dispatch_cli.answers.errors.kinds import OTHER_TEXT, Message

MESSAGES = (
    Message(
        OTHER_TEXT,
        "this text is none of those that are known[[; it names {op}]][[ at {key}]][[; {during}]]",
        (),
        "PyTorch, or a library that is built on it",
        means="This is what the loaded state says of what the text names; it is not an explanation of its sentence.",
        user=(
            "[compile] Keep the call out of the compiled region: `@torch.compiler.disable` on the function that calls "
            "it.",
            "[compile] Compile with `backend='eager'`, then with 'aot_eager': the first that fails tells Dynamo, the "
            "tracing of operators and Inductor apart.",
            "[vmap] Call it outside of vmap, with the batch as a dimension of its tensors.",
            "[transform] Call it outside of the transform, or use `x.requires_grad_()` and `torch.autograd.grad`.",
            "[traced] Trace the functional form of the program: `make_fx(torch.func.functionalize(f))`.",
            "[backward] Run it under `torch.autograd.set_detect_anomaly(True)`, which names the call whose backward "
            "fails.",
            "[twice] If first derivatives are enough: compute the gradient without `create_graph=True`.",
            "[sharded] Run it on local tensors: `x.to_local()`, then `DTensor.from_local(…)`.",
            "[called] Run the call alone, on the CPU and without compilation or transforms: if it works there, the "
            "device or the context that is named above is the cause, and not the operator.",
        ),
        author=(
            "[functional] Declare those arguments that the kernel changes, and no other: by their names in "
            "`mutates_args`, or as `Tensor(a!)` in the schema.",
            "[registering] The last line of your own code in the traceback is the registration that is refused.",
            "[custom] Test an operator of your own by `torch.library.opcheck(op, args)`: it compares the schema, the "
            "fake implementation and the gradient with what the kernel does.",
        ),
    ),
)
