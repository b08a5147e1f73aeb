"""The text of a message as a template, and the regular expression that finds it in pasted texts.

In a template, ``{op}`` and the other names in `HOLES` stand for what PyTorch fills in, ``{*}`` for anything, and what
is in ``[[`` and ``]]`` may be missing; of ``[[a]][[b]]`` one is there. Another name stands for nothing: texts of the
template have that detail. A space stands for any gap, a line break too; a quote mark for any quote mark.
"""

from __future__ import annotations

import re

QUOTE = "['\"`\u00b4\u2018\u2019\u201c\u201d]"
GAP = r"[\s>|*#]{1,40}"
"""Between words: texts are wrapped, quoted by ``>`` or ``|`` before each line, and set in bold by ``**``."""
_OF_PYTORCH = (
    r"(?:_?_Z(?:T[VTISCh])?(?:N[rVK]{0,3}[RO]?)?(?:2at|3c10|4thpp|5torch|6caffe2|\d{1,2}THP|"
    r"8pybind116detail11type_casterIN(?:2at|3c10))\w{1,1000}|"
    r"_?TH(?:[CP]|NN|CS)?_?[A-Z][a-z]\w{0,200}|"
    r"_?(?:aoti_torch|torch_(?:library|list|string|stream|parallel|exception|call_d|from_blob|new_|[gs]et_|delete_|c10_))\w{0,200})"
)
"""Names of C++ in PyTorch's libraries, of its stable C API, and of its former C libraries TH, THC and THNN."""
_OF_PYTHON = r"(?:(?=\w{0,12}(?:THP|pybind11))(?P<of_python>))?"
"""Of these, the names in libtorch_python."""
_OLD_STRING = r"(?=\w{0,1000}(?<![a-z])Ss)(?!\w{0,1000}__cxx11)(?P<old_abi>)"
_STRING = rf"(?:{_OLD_STRING}|(?=\w{{1,1000}}(?:7__cxx11|B5cxx11))(?P<new_abi>))"
"""``std::string`` of the C++ ABI before GCC 5, and of the newer one, ``std::__cxx11::basic_string``."""
_OF_IT = r"(?:[ :][^'\"\n]{0,100})?"
_C10 = r"(?:(?:struct )?c10::)?"
_NUMBER = r"(?:(?<=c10::)\w{1,20}|(?:un)?(?:signed )?(?:char|short|int|long|long long)|float|double|bool)"
_ON_DEVICE = r"(?:torch\.(?:(?:cuda|hip|xpu|mps)\.)?|[A-Z]{2,8}(?=[A-Z][a-z]))"
"""Begins the name of a type of tensors: a module of torch, or a backend."""
_DTYPE = r"(?<=[.A-Z])[A-Z][a-z]\w{1,20}"
"""A dtype behind that."""
_BACKEND = r"(?:npu|hpu|xla|musa|mlu|gcu|sdaa|supa)\b"
"""Names of modules that packages of backends add to torch."""

HOLES = {
    # a name begins where nothing of a name is before it, so that a long word is not tried from each of its letters
    "op": r"(?<![\w:.])(?P<op>[\w:.]{1,500})",
    "cpp_op": r"(?<![\w:.])(?P<op>\w{1,100}::[\w:.]{1,300})",
    "dotted_op": r"(?P<namespace>\w{1,60})\.(?P<name>\w{1,100})",
    "overload": r"(?P<overload>\w{1,60})",
    "overload_name": r"(?P<op>\w{1,100}[.:][\w.:]{1,300})",
    # the beginning of a line that was cut before the operator's name
    "beginning": r"(?m:^)[^\n'\"]{0,20}?",
    "derived": r"(?P<op>\w{1,100}[.:][\w.:]{1,300}|\w{1,100}_backward\b)",
    "custom_op": r"(?P<custom>)(?<![\w:.])(?!aten\b)(?P<op>\w{1,100}[.:][\w.:]{1,300}\w)",
    # none of its overloads in a list below
    "no_candidate": r"(?![\s\S]{0,3000}\n\s{1,8}(?P=op)[.(])",
    "aten_op": r"(?P<op>aten::\w{1,100})\.?",
    "custom_overload": r"(?P<op>(?!aten\.|prims\.)\w{1,100}\.\w{1,100}\.\w{1,100})",
    # the target of a traced call: an operator, or a function of Python
    "traced_op": r"(?:<[^\n(]{1,100}|torch\.(?!ops)[\w.]{1,200}"
    r"|(?:torch\.ops\.)?(?P<op>\w{1,100}\.\w{1,100}(?:\.\w{1,60})?)(?P<library_op>)|\w{1,100})",
    "called_op": r"(?!torch\.(?!ops\.)|operator\.|math\.)(?:torch\.ops\.)?(?P<op>\w{1,100}\.\w{1,100}(?:\.\w{1,60})?)",
    "aten_overload": r"(?P<op>aten\.\w{1,100}\.\w{1,100}|\w{1,100}\.\w{1,100}\.default)\b(?!:)",
    # behind an operator that computes the gradient of another
    "of_backward": r"(?:(?<=_backward)(?P<twice>))?",
    # the words of a short text are those of other programs too: it is all that the exception says
    "raised": r"(?:(?<=Error: )|(?<=Error\([\"']))",
    "ends": r"(?=['\"`]|\)?\.?[ \t]*(?:$|[\n(]))",
    "whole_word": r"\b",
    # neither torch.compile, nor what a DataLoader warns of
    "not_compile": r"(?<!torch\.compile is )",
    "not_pinned": r"\b(?! now, then device pinned)",
    "quoted": rf"(?<={QUOTE})",
    "unquoted": rf"(?<!{QUOTE})",
    "not_self": r"(?!s?:[ ]'self')",
    "key": r"(?:DispatchKey(?:\.|::))?(?!DispatchKey\b)(?P<key>\w{1,100})",
    "namespace": r"(?P<namespace>[\w.]{1,200})",
    "name": r"(?P<name>\w{1,300})",
    "torch_function": r"(?P<function>torch\.(?!ops\.)[\w.]{1,200}\w)",
    "device": r"(?P<device>\w{1,60}(?::\d{1,4})?)",
    "private_device": rf"(?P<device>privateuseone\b|{_BACKEND})",
    "lacking_device": r"(?P<device>MPS|XPU|HPU|NPU|XLA)\b",
    "other_device": r"(?P<other_device>\w{1,60}(?::\d{1,4})?)",
    "is_device": r"is_(?P<device>cuda|cpu)",
    # a backend, and not a kind of tensors on it
    "dense_device": r"(?!Sparse|Quantized|Mkldnn)(?P<other_device>\w{1,60})",
    "sparse_backend": r"(?:Sparse|Quantized|Mkldnn)\w{1,30}",
    "dtype": r"(?:torch\.(?:\w{1,20}\.)?)?(?P<dtype>(?:BFloat16|Float\w{0,12}?|U?Int(?:8|16|32|64)?"
    r"|QU?Int\d{1,2}\w{0,4}|Bits\w{1,6}|Byte|Char|Short|Long|Half|Double|Complex(?:Half|Float|Double)|Bool|Undefined))(?:Tensor|Type)?\b",
    # as people retype it, with small letters
    "typed_dtype": r"(?:torch\.(?:\w{1,20}\.)?)?(?i:(?P<dtype>bfloat16|half|float\w{0,12}|double|long"
    r"|u?int(?:8|16|32|64)?|short|byte|char|bool|q?u?int\d{1,2}\w{0,4}|complex\w{0,6}|undefined))(?:Tensor|Type)?\b",
    "found_dtype": rf"{_C10}(?P<found_dtype>(?!UNKNOWN)[A-Za-z]\w{{2,20}})",
    "word_dtype": r"(?P<dtype>[Bb]ool|[Cc]omplex)(?:ean)?",
    "integer_tensor": r"(?:torch\.(?:cuda\.)?|CUDA)?(?:Int|Short|Char|Byte)(?:Tensor|Type)",
    "wanted_device": r"(?P<device>CUDA|CPU|GPU)",
    "type": r"(?P<type>[^'\n]{1,80})",
    "class_op": r"(?P<of_class>)(?<=classes\.)(?P<op>\w{1,60}\.\w{1,60})",
    "given": r"(?P<given>(?!Proxy\b)(?:[a-z]\w{1,20}\.(?=\w)){0,3}[^'\n.]{1,80})",
    "block": r"(?P<block>TORCH_LIBRARY\w{0,10})",
    "traced": r"(?P<value>)(?:FakeTensor|FunctionalTensor)",
    # what a schema, and not a saved program, goes on with
    "not_saved": r"(?!\s*Serialized)",
    # names of modules that are compiled
    "compiled": r"(?P<python_module>[\w.]{0,200}?(?:\b_(?:C|ext|cuda)|_(?:C|cuda|cpu|hip|ext|cpp|kernels?|plugin))"
    r"|MultiScaleDeformableAttention|custom C\+\+ ops)",
    # modules and names of torch that a program uses
    "torch_module": r"(?P<module>scaled_dot_product_attention|torch\.library(?P<of_library>)"
    r"|torch(?:vision|audio)?\b(?!\.library\b)(?:\.\w{1,60}\b){0,6}"
    r"|torch_(?:npu|musa|mlu|xla|ipex|hpu|gcu|sdaa|tensorrt)(?P<of_backend>))(?(of_backend)[\w.]{0,60})",
    "api_name": rf"(?P<name>(?!{_BACKEND}|privateuseone\b|_autoload\b|_C\b)(?:_six\b(?P<six>)"
    r"|_(?:[cC]uda|[xX]pu|mps_)\w{1,90}|(?:mps|xpu)\b(?P<of_device>)|\w{1,100}))",
    # the source of a program, and not of a file that was saved
    "scripted": r"(?=[\s\S]{0,2000}?(?:HERE|original call|not annotated with))"
    r"(?![\s\S]{0,2000}(?:Serialized|code/_))(?P<scripted>)",
    # a variable that a module which cannot be imported leaves undefined
    "compiled_name": r"(?P<python_module>_(?:C|ext|cuda|cpp|kernels)|\w{1,100}_(?:C|ext))\b",
    "number_type": rf"{_C10}(?P<dtype>(?:(?:un)?signed )?[\w:]{{1,30}}(?: int)?)",
    "other_dtype": rf"{_C10}(?P<other_dtype>(?!UNKNOWN)(?:(?:un)?signed )?[\w:]{{1,30}}(?: int)?)",
    # long int; torch.FloatTensor, torch.cuda.FloatTensor, MPSFloatType, of which the dtype is a part
    "operand": rf"(?:{_ON_DEVICE})?{_C10}(?P<dtype>{_NUMBER}|{_DTYPE}?)(?:T(?:ensor|ype))?",
    "other_operand": rf"(?:{_ON_DEVICE})?{_C10}(?P<other_dtype>{_NUMBER}|{_DTYPE}?)(?:T(?:ensor|ype))?",
    "device_tensor": r"(?:torch\.(?:cuda|hip|xpu|mps)\.\w{3,30}Tensor|(?:CUDA|MPS|XPU|HPU|XLA|NPU)[A-Z]\w{1,20}Type)",
    "host_tensor": r"(?:torch\.(?!Keras|Eager|Symbolic|Sparse|Ragged)\w{0,60}Tensor\b|CPU[A-Z][a-z]\w{1,20}Type)",
    "expected": r"(?P<expected>\d{1,4})",
    "got": r"(?P<got>\d{1,4})",
    "fake_function": r"(?P<function>\b(?!register_)"
    r"(?:\w{1,200}_(?:fake|(?:fake|meta|abstract)_impl)|\w{1,100}_\w{1,100}_abstract))",
    "plain_tensor": r"torch\.[Tt]ensor",
    "path": r"[^\s'\":]{0,300}",
    "image_extension": r"(?![^\n]{0,400}(?:ymbol|cannot))[^\n]{1,400}",
    "core_library": r"lib(?:torch(?:_cpu|_cuda|_hip|_python)?|c10(?:_cuda|_hip)?)\.so",
    "torch_library": r"(?P<library>lib(?:torch|c10)(?:_(?:cuda|hip)(?P<gpu>)(?:_c(?:u|pp)(?P<split>))?|\w{0,20})\.so)",
    "written_function": r"(?<![\w.])(?!CompiledFunctionBackward|[A-Z]\w{1,80}Backward\d\b"
    r"|(?:Mm|Addmm)Backward\b)(?P<function>[\w.:~]{1,300}(?:<[\w:]{1,200}>)?)",
    "pytorch_backward": r"(?P<function>[A-Z]\w{1,80}Backward\d|(?:Mm|Addmm)Backward\b)",
    "python_function": r"(?P<function>[\w.<>]{1,200})",
    # what PyTorch's checks compare: other packages compare what is no tensor
    "some_tensors": r"\b(?i:tensors?|vectors|query|self|m(?:at)?\d|both inputs|input(?: and \w{1,20}|\()"
    r"|(?<=expected )\w{1,20} and \w{1,20})\b[^\n]{0,60}?",
    "refused_name": r"(?<![\w.])(?!(?:is|are|also|currently|does|it|this)\b)"
    r"(?:op(?:eration|erator)?\b|(?P<function>(?:torch\.)?[\w:~]{1,300}))",
    "old_function": r"(?P<function>(?:Log)?Softmax|\w{1,60}Backward)\b",
    "function": r"(?<![\w.])(?P<function>[\w.:~]{0,300}[\w~])",
    "cpu_function": r"(?<!\w)(?!\w{0,300}(?i:cuda|hip|cusolver|cublas|magma|xpu|mps|gpu))(?P<function>\w{1,300})",
    "half_dtype": r"(?P<dtype>Half)\b",
    "cpp_constant": r"(?:\w{1,10}::){0,2}k?(?P<wanted>[A-Z]\w{2,20})",
    "result": r"(?:c10::)?(?P<result>\w{3,20})",
    "target": r"(?:c10::)?(?P<target>\w{3,20})",
    "case": r"(?P<case>)(?P<label>[^\n'\"]{1,160}?)(?=\.? Please|\.?\s*$|\.?\n|\.?\s+\[Caused)",
    "argument": r"(?P<argument>\w{1,100})",
    "exception": r"(?P<label>\w{1,60}: \S[^\n]{0,160}?)(?<!['\"])(?=\.?[ \t]*\n)",
    # the reason at the end of a line
    "reason": r"(?P<label>[^'\"\n]{1,200}?)(?=\.?[ \t]*(?:\n|$))",
    "schema_arguments": r"(?:[^()]|\([^()]{0,40}\)){0,600}",
    "target_argument": r"(?P<argument>target|index|indices|mask)\b",
    "label": r"(?P<label>[^'\"\n]{1,200}?)",
    # an argument that no derivative is for, in place of a function
    "without_derivative": r"(?P<wrt>)(?P<unnamed>)(?:(?=target)(?P<of_target>))?"
    r"(?P<argument>self|other|input|weight|pos_weight|target|mask|index|indices|running_mean|running_var)(?=['\"`])",
    "wrong_key": r"(?P<wrong_key>\w{1,60})",
    # a function of the backward, and the result or argument that has no derivative
    "backward_label": rf"(?P<twice>)(?P<function>\w{{1,200}}_backward\w{{0,20}}){_OF_IT}",
    "cudnn_backward": r"\b_?cudnn_(?P<operation>(?!grid)\w{1,60})_backward",
    "cudnn_label": rf"_?cudnn_(?P<operation>\w{{1,60}})_backward{_OF_IT}",
    "tensor_subclass": r"(?P<class_name>\w{1,60}Tensor\w{0,30})",
    "tensor_class": r"(?!Keras|Eager|Symbolic|Sparse|Ragged)\w{0,60}Tensor\b",
    # where Markdown takes the underscores for bold, they are missing
    "module_attribute": r"(?P<label>__\w{1,40}__|path\b)[\w.]{0,60}",
    "module": r"(?P<module>[\w.]{1,200})",
    # up to the end of the line, which may break behind the first words
    "previous_line": rf"(?P<previous>(?:registered{GAP}at{GAP})?\S[^\n]{{0,400}})",
    # a file and a line of Python
    "previous_place": r"(?P<previous>\S[^\n]{0,400}?:\d{1,9})",
    "new": rf"(?P<new>(?:registered{GAP}at{GAP})?\S[^\n]{{0,400}})",
    # a sentence up to its end
    "rest": r"(?P<rest>(?!\{what\}|Parameter \w{1,100} has unsupported type torch\.Tensor\.|Expected .func)\S"
    r"(?:(?!\n\s*(?:```|\n|File ))[\s\S]){0,600}?(?:[.)](?=[\s'\"`]|$)|(?=\n\s*(?:```|\n|File )|\s*\Z)))",
    # names of C++ as linkers write them: of PyTorch, and of a project's own functions that take PyTorch's types
    "symbol": rf"(?:{_STRING}(?P<abi>))?{_OF_PYTHON}(?P<symbol>{_OF_PYTORCH})",
    # int64_t is long on Linux alone
    "long_symbol": r"(?=__ZNK?2at\w{1,60}data_ptrIlE)(?P<long>)",
    "own_symbol": rf"(?!{_OF_PYTORCH})_?(?P<symbol>_Z\w{{1,1000}}?(?:2at|3c10|5torch|6caffe2)\w{{1,1000}})",
    "cpp_symbol": r"(?:(?=torch::utils::)(?P<of_python>))?"
    r"(?P<symbol>(?:at|c10d?|torch|caffe2)::(?:Tensor(?:Base)?::data\w*<long>(?P<long>)|[\w:~]{1,300}))",
    # with a string of the C++ ABI before GCC 5
    "string_function": r"(?P<symbol>(?!(?:at|c10|torch|caffe2)::)[\w:~]{2,200})\([^\n']{0,300}?std::string\b",
    # libraries of PyTorch and CUDA, and C names of MKL, CUDA and NCCL that they ask for
    "cuda_library": r"(?<![\w.])lib(?:torch|c10|cu[a-z]|nv)\w{0,30}\.so[.\d]{0,20}(?P<of_cuda>)",
    "foreign_symbol": r"(?P<symbol>(?:nccl[A-Z]|cu(?:blas|sparse|solver|fft|dnn)|__nv|iJIT_(?P<mkl>)"
    r"|(?:__)?cuda(?!RegisterL)[A-Z](?(of_cuda)|(?P<runtime>)))\w{1,200})",
    "torch_dll": r"[^'\"\n]{0,300}?torch[\\/]{1,2}lib[\\/]{1,2}(?P<library>(?:fbgemm(?P<fbgemm>)|[\w.-]{1,60})\.dll)",
    # libraries of CUDA and ROCm, on which compiled extensions depend
    "library": r"(?P<library>lib(?:(?:cu(?!da\.)|nv|(?:amdhi|hi|roc|MIO|hsa-)(?P<rocm>))\w{1,20}|nccl)\.so[.\d]{0,20})",
    # a function of a package, in one or two words
    "not_compiled": r"(?P<function>(?:(?<=RuntimeError: )|(?m:^))\w{1,60}(?: \w{1,60})?)",
}
"""The expression of each hole. All are bounded."""
_OPTIONAL = re.compile(r"\[\[(?:(?!\[\[|\]\]).)*\]\]")
"""A part that may be missing, and has no such part in it."""
_HYPHEN = re.compile(r"(?<=\w)\\-(?=\w)")
"""A hyphen within a word, escaped."""
_PART = re.compile(r"\{(\*{1,2}|\w+)\}|(\]\]\[\[)|(\[\[)|(\]\])|((?:(?!\{(?:\*{1,2}|\w+)\}|\[\[|\]\])[\s\S])+)")
_SIGN = re.compile(r" +|['\"`]|[^ '\"`]+")
ANYTHING = {"*": (r"[^\n]", 600), "**": (r"[\s\S]", 3000)}
"""The characters of the holes that stand for anything, and how many there are at most."""
_WORD = re.compile(r"[A-Za-z]{2}")
LONG = 10
"""Characters of a literal that is not met again by chance."""


def expression(template: str) -> str:
    """The regular expression of a template."""
    parts: list[str] = []
    chosen: list[bool] = []  # for each part that is open, whether it is one of several
    tokens = _PART.findall(template)
    before, is_written = "", False
    for number, (hole, other, begins, ends, literal) in enumerate(tokens):
        if hole in ANYTHING:
            behind = tokens[number + 1][-1] if number + 1 < len(tokens) else ""
            parts.append(_anything(hole, before, behind, number))
            is_written = True  # with the hole
            continue
        if hole:
            parts.append(HOLES.get(hole, f"(?P<{hole}>)"))
        elif other:
            chosen[-1] = True
            parts.append("|")
        elif begins:
            chosen.append(False)
            parts.append("(?:")
        elif ends:
            parts.append(")" if chosen.pop() else ")?")
        else:
            if not is_written:
                parts.append(_literal(literal))
            if len(literal.strip()) >= LONG and not chosen:
                before = literal
        is_written = False
    return "".join(parts)


def _anything(hole: str, before: str, behind: str, number: int) -> str:
    """Anything up to the first place of the literal *behind*, and not past another one of that *before*.

    So nothing is tried twice, however often a text repeats the words of a template.
    """
    sign, most = ANYTHING[hole]
    anything = f"(?:(?!{_literal(before)}){sign}){{0,{most}}}?" if before else f"{sign}{{0,{most}}}?"
    # a group that is found ahead is kept
    upto = f"{anything}{_literal(behind)}"
    return f"(?=(?P<_{number}>{upto}))(?P=_{number})" if _WORD.search(behind) else upto


def _literal(text: str) -> str:
    """Words of a template, which a text may wrap and quote."""

    def sign(part: re.Match[str]) -> str:
        if part[0].isspace():
            return GAP
        # a line may break a word at its hyphens
        return f"{QUOTE}?" if part[0] in "'\"`" else _HYPHEN.sub(lambda _: rf"\-(?:{GAP})?", re.escape(part[0]))

    return _SIGN.sub(sign, text)


def words(template: str) -> tuple[str, ...]:
    """The words that every text of the template has, the longest first: without one, nothing is tried."""
    required, optional = template, 1
    while optional:
        required, optional = _OPTIONAL.subn(" ", required)
    literals = dict.fromkeys(re.findall(r"[A-Za-z_:]{3,}", re.sub(r"\{[\w*]+\}", " ", required)))
    return tuple(sorted(literals, key=len, reverse=True))
