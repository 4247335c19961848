"""The Textual screens and the thread that works for them; what they show is painted in render/.

    host      the Textual app of every program: look, signals, defects, the failure that ended it
    drivers   what a terminal or browser sends, as messages; what cannot be decoded is dropped
    preparing the progress of work before a comparison, where only a screen can show it
    desk      opening     what the main screen shows and can do; its initial state
    main      playback    the main screen: keys, mouse, the worker's messages, the focus after a stop; moving on by itself
    handlers/             what each action of rfview/actions.py does
    worker    session_worker      the thread that serves requests; the one that owns the session
    requests/             what the screen can ask of that thread, one function each
    scenes/               builds a frame's scene from the session, in that thread
    windows/  compare/    windows over the main screen; the screens of `rfview compare`
"""
